import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { answerChunk } from '../../contract/chat.ts';

/** One frame of an answer's stream. `id` and `event` are empty where the frame has no such line. */
export interface AnswerFrame {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/**
 * Reads the frames of a stream to its end, or until `maxBytes` of it are read; then the reader leaves, in the middle
 * of a frame as it may be. Only whole frames come back.
 */
export async function readFrames(response: Response, { maxBytes = Infinity } = {}): Promise<AnswerFrame[]> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    throw new Error(`no stream but: ${await response.text()}`);
  }
  const frames: AnswerFrame[] = [];
  const parser = createParser({ onEvent: (message) => frames.push(frameOf(message)) });
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let left = maxBytes;
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    parser.feed(decoder.decode(read.value.subarray(0, Math.max(0, left)), { stream: true }));
    left -= read.value.length;
    if (left <= 0) break;
  }
  await reader?.cancel();
  return frames;
}

/** The text of an answer. */
export function textOf(frames: readonly AnswerFrame[]): string {
  return frames
    .filter(({ event }) => event === '')
    .map(({ data }) => answerChunk.parse(data).content)
    .join('');
}

/** Where a reader of these frames goes on; empty for the beginning. */
export function lastIdOf(frames: readonly AnswerFrame[]): string {
  return (
    frames
      .map(({ id }) => id)
      .filter((id) => id !== '')
      .at(-1) ?? ''
  );
}

export function hasEnded(frames: readonly AnswerFrame[]): boolean {
  return frames.at(-1)?.data['is_end'] === true;
}

function frameOf({ id, event, data }: EventSourceMessage): AnswerFrame {
  return { id: id ?? '', event: event ?? '', data: JSON.parse(data) as Record<string, unknown> };
}
