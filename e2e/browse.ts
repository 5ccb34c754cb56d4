import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { ModelError } from '../server/models/model-error.ts';
import { OfflineChatModel } from '../server/models/offline/offline-chat-model.ts';
import { type AskApp, TEST_TOKEN } from '../server/testing/ask-app.ts';

/** Where pictures of the page go; none are made without it. */
const SHOTS = process.env['KNOWHY_TEST_SHOTS'] ?? '';

/** The offline model, until it is told to fail or to wait. */
export class MoodyModel extends OfflineChatModel {
  failure: ModelError | null = null;
  pauseMs = 0;

  override async streamOpenAi(...[request, onDelta]: Parameters<OfflineChatModel['streamOpenAi']>) {
    if (this.failure) throw this.failure;
    return super.streamOpenAi(request, async (delta) => {
      await onDelta(delta);
      await new Promise((resolve) => setTimeout(resolve, this.pauseMs));
    });
  }
}

/** Starts a browser that talks to nobody but the page's server. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync'],
    ],
  });
}

/**
 * The ask page, signed in, in a context of its own; `complaints` collects what the browser reports as wrong. `app`: or
 * whatever stands before it.
 */
export async function openPage(browser: Browser, app: Pick<AskApp, 'url'>, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ locale: 'zh-CN', viewport: { width: 1100, height: 860 }, ...options });
  const page = await context.newPage();
  // Before the test's own, so that a failure names what was waited for.
  page.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`${app.url}/ui/#token=${TEST_TOKEN}`);
  await page.locator('#composer').waitFor();
  return { page, complaints };
}

/** Keeps the answer to the question for stored records back until it is let go. */
export async function holdStoredConversation(page: Page): Promise<{ asked: Promise<void>; letGo(): Promise<void> }> {
  let letGo = () => {};
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let noteAsked = () => {};
  const asked = new Promise<void>((resolve) => {
    noteAsked = resolve;
  });
  const address = '**/chat_record/1/50?**';
  await page.route(address, async (route) => {
    noteAsked();
    await released;
    await route.continue();
  });
  return {
    asked,
    letGo: async () => {
      const answered = page.waitForResponse(address);
      letGo();
      await answered;
    },
  };
}

/** Types a question and sends it. */
export async function ask(page: Page, question: string): Promise<void> {
  await page.locator('#question').fill(question);
  await page.locator('#send').click();
}

/** Notes every text that the answer has while it grows; the returned function tells them, without repeats. */
export async function watchAnswer(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const texts: string[] = [];
    const look = () => {
      const text = document.querySelector('.turn:last-child > .answer')?.textContent?.trim() ?? '';
      if (text !== texts.at(-1)) texts.push(text);
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
    Object.assign(globalThis, { answerTexts: texts });
  });
  return () => page.evaluate(() => (globalThis as unknown as { answerTexts: string[] }).answerTexts);
}

/** The conversation that the page has open. */
export async function chatIdOf(page: Page): Promise<string> {
  return page.evaluate(() => JSON.parse(sessionStorage.getItem('knowhy.chat') ?? '{}').chatId);
}

/** Presses Tab until the element has the focus. Throws where 30 presses are not enough. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  await page.locator('body').click({ position: { x: 2, y: 300 } });
  for (let presses = 0; presses < 30; presses += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
  }
  throw new Error(`The keyboard does not reach ${selector}.`);
}

/** Keeps a picture of the page where `KNOWHY_TEST_SHOTS` names a folder. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}

/** The body of a stream that answers with this text. */
export function answerFrames(content: string): string {
  const chunk = { chat_record_id: '0190a000-0000-7000-8000-0000000000ff', content, is_end: false };
  return [chunk, { ...chunk, content: '', is_end: true }].map((data) => `data: ${JSON.stringify(data)}\n\n`).join('');
}
