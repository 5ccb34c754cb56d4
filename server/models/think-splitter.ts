import type { ReplyDelta } from './chat-model.ts';

export interface ThinkTags {
  start: string;
  end: string;
}

export const defaultThinkTags: ThinkTags = { start: '<think>', end: '</think>' };

/**
 * Splits a streamed answer into reasoning and content. Only an answer that starts (after white space) with the start
 * tag has reasoning: what lies between the tags. A tag later in the answer is content. Text is withheld while it may
 * still be a tag, so the same text gives the same split however it is cut into chunks. An empty tag switches splitting off.
 */
export class ThinkSplitter {
  readonly #tags: ThinkTags;
  #state: 'undecided' | 'reasoning' | 'content';
  #withheld = '';

  constructor(tags: ThinkTags = defaultThinkTags) {
    this.#tags = tags;
    this.#state = tags.start === '' || tags.end === '' ? 'content' : 'undecided';
  }

  /** Takes the next piece of the answer. Returns what is decided by now; both parts may be empty. */
  push(text: string): ReplyDelta {
    switch (this.#state) {
      case 'undecided':
        return this.#decide(this.#withheld + text);
      case 'reasoning':
        return this.#reason(this.#withheld + text);
      case 'content':
        return { content: text, reasoningContent: '' };
    }
  }

  /** Ends the answer. Returns what was withheld: half a start tag is content, half an end tag is reasoning. */
  flush(): ReplyDelta {
    const rest = this.#withheld;
    this.#withheld = '';
    return this.#state === 'reasoning'
      ? { content: '', reasoningContent: rest }
      : { content: rest, reasoningContent: '' };
  }

  #decide(text: string): ReplyDelta {
    const { start } = this.#tags;
    // A tag may itself begin with white space, so the trimmed and the untrimmed text are both tried.
    const answer = text.startsWith(start) ? text : text.trimStart();
    if (answer.startsWith(start)) {
      this.#state = 'reasoning';
      return this.#reason(answer.slice(start.length));
    }
    if (start.startsWith(answer) || start.startsWith(text)) {
      this.#withheld = text;
      return { content: '', reasoningContent: '' };
    }
    this.#state = 'content';
    this.#withheld = '';
    return { content: text, reasoningContent: '' };
  }

  #reason(text: string): ReplyDelta {
    const { end } = this.#tags;
    const at = text.indexOf(end);
    if (at >= 0) {
      this.#state = 'content';
      this.#withheld = '';
      return { content: text.slice(at + end.length), reasoningContent: text.slice(0, at) };
    }
    const kept = lengthOfTagBegun(text, end);
    this.#withheld = text.slice(text.length - kept);
    return { content: '', reasoningContent: text.slice(0, text.length - kept) };
  }
}

/** How many characters at the end of `text` may be the beginning of `tag`. */
function lengthOfTagBegun(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
