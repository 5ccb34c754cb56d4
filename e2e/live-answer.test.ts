import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { type AskApp, startAskApp } from '../server/testing/ask-app.ts';
import { describeOnPGlite } from '../server/testing/databases.ts';
import type { ScriptedModelServer } from '../server/testing/scripted-model-server.ts';
import { hangAfter, reply } from '../server/testing/scripted-steps.ts';
import { storeRound } from '../server/testing/stored-rounds.ts';
import { ask, chatIdOf, launchChromium, openPage, shoot, tabTo, watchAnswer } from './browse.ts';
import { type CuttableProxy, startCuttableProxy } from './cuttable-proxy.ts';
import { type ConversationScript, heldStep, SUFFICIENT, startScriptedConversation } from './scripted-conversation.ts';

/** Without a browser the suite is skipped by name. */
const CHROMIUM = process.env['KNOWHY_TEST_CHROMIUM'] ?? '';

const QUESTION = '工作满10年的员工年休假有几天？';
const SENTENCES = Array.from({ length: 30 }, (_, index) => `第${index + 1}句说年休假10天。`).join('');
const ANSWER = `${SENTENCES}[1]`;
const SUMMARY = '**用户所述**\n- 项目代号是蓝鲸\n- 预算为120万元\n\n<img src=x onerror=alert(1)>';

// Answers here take seconds, and a busy machine takes several times as long.
vi.setConfig({ testTimeout: 60_000 });

describeOnPGlite('an answer on the ask page while it is written', (open) => {
  let server: ScriptedModelServer;
  let app: AskApp;
  let browser: Browser;
  let proxy: CuttableProxy | null = null;
  const script: ConversationScript = {
    rewrite: reply(QUESTION),
    verdict: SUFFICIENT,
    answer: reply(ANSWER),
    summary: reply(SUMMARY),
  };

  beforeAll(async () => {
    if (CHROMIUM === '') return;
    const scripted = await startScriptedConversation(script);
    server = scripted.server;
    app = await startAskApp(await open(), { model: scripted.model });
    browser = await launchChromium(CHROMIUM);
  });

  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await server?.close();
  });

  beforeEach(() => {
    script.verdict = SUFFICIENT;
    script.answer = reply(ANSWER, { chunkSize: 6, delayMs: 120 });
  });

  afterEach(async () => {
    await proxy?.close();
    proxy = null;
  });

  const test = it.skipIf(CHROMIUM === '');

  async function openThroughProxy() {
    proxy = await startCuttableProxy(app.url);
    return { ...(await openPage(browser, proxy)), network: proxy };
  }

  /** Waits until the answer has some words, and not all. */
  async function untilWriting(page: Page): Promise<void> {
    await page.locator('.answer', { hasText: '第2句' }).waitFor();
  }

  const answerOf = async (page: Page) => (await page.locator('.turn:last-child > .answer').textContent())?.trim();

  test('is stopped by its button, keeps what was said, says so calmly, and so after a reload', async () => {
    const { page, complaints } = await openPage(browser, app);
    script.answer = hangAfter(8, ANSWER, { chunkSize: 12 });

    await page.locator('#question').fill(QUESTION);
    // The second click falls on the button to stop.
    await page.locator('#send').dblclick();
    await untilWriting(page);
    await shoot(page, 'running-with-stop');
    await page.getByRole('button', { name: '停止' }).click();
    await page.locator('.stopped').waitFor();
    await page.locator('.why').waitFor();

    const shown = await page.locator('.turn').textContent();
    expect(shown).toContain('第2句说年休假10天。');
    expect(shown).toContain('已停止回答，保留了已有的内容。');
    expect(shown).not.toContain('Exception');
    expect(await page.locator('.failure').count()).toBe(0);
    expect(await page.locator('#announcer').textContent()).toBe('已停止回答，保留了已有的内容。');
    await shoot(page, 'stopped');
    await page.reload();
    await page.locator('.stopped').waitFor();
    expect(await page.locator('.turn').textContent()).toBe(shown);
    script.answer = reply(ANSWER);
    await page.getByRole('button', { name: '重新提问' }).click();
    await page.locator('.turn[data-state=done]').waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('is stopped with Escape before a word was said, on a narrow English page, by keyboard alone', async () => {
    const { page, complaints } = await openPage(browser, app, {
      locale: 'en-US',
      viewport: { width: 375, height: 812 },
    });
    script.answer = hangAfter(0);

    await page.keyboard.type(QUESTION);
    await tabTo(page, '#send');
    await page.keyboard.press('Enter');
    await page.locator('.progress .current', { hasText: 'Writing the answer' }).waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.id);
    expect(await focused()).toBe('stop');
    await shoot(page, 'running-narrow-english');
    await page.locator('#question').press('Escape');
    await page.locator('.stopped', { hasText: 'Stopped before anything was written.' }).waitFor();
    await page.locator('.why').waitFor();

    expect(await page.locator('#send').isVisible()).toBe(true);
    expect(await page.locator('#hint').textContent()).toBe('Ctrl / ⌘ + Enter to ask');
    await shoot(page, 'stopped-narrow-english');
    await tabTo(page, '.stopped button');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('R77 goes on live after the connection is cut, with no word lost or said twice', async () => {
    const { page, network } = await openThroughProxy();
    await ask(page, QUESTION);
    const texts = await watchAnswer(page);

    await untilWriting(page);
    expect(network.cut()).toBeGreaterThan(0);
    await page.locator('.notice', { hasText: '正在重新连接' }).waitFor();
    const atCut = await answerOf(page);
    await shoot(page, 'reconnecting');
    // The first try of the page meets a network that is still away.
    await page.waitForEvent('requestfailed');
    network.mend();
    await page.locator('.turn[data-state=done]').waitFor();

    expect(await answerOf(page)).toBe(ANSWER);
    const seen = await texts();
    expect(seen.filter((text) => !ANSWER.startsWith(text))).toEqual([]);
    expect(seen.filter((text) => text.length > (atCut?.length ?? 0)).length).toBeGreaterThan(3);
    expect(await page.locator('.why summary').textContent()).toContain('检索 1 轮');
    await page.context().close();
  });

  test('R77 goes on after a cut before its first word, with no phase shown twice', async () => {
    const { page, network } = await openThroughProxy();
    const verdict = heldStep(SUFFICIENT);
    script.verdict = verdict.step;
    await ask(page, QUESTION);
    await page.locator('.progress li', { hasText: '第 1 轮检索' }).waitFor();

    network.cut();
    network.mend();
    await page.locator('.notice', { hasText: '正在重新连接' }).waitFor();
    verdict.letGo();
    await untilWriting(page);

    expect(await page.locator('.progress li').count()).toBe(3);
    await page.locator('.turn[data-state=done]').waitFor();
    expect(await answerOf(page)).toBe(ANSWER);
    await page.context().close();
  });

  test('is found again where the connection falls silent', async () => {
    const { page, network } = await openThroughProxy();
    await page.clock.install();
    await ask(page, QUESTION);
    await untilWriting(page);

    network.freeze();
    await page.clock.fastForward(46_000);
    await page.locator('.notice', { hasText: '正在重新连接' }).waitFor();
    await page.locator('.turn[data-state=done]').waitFor();

    expect(await answerOf(page)).toBe(ANSWER);
    await page.context().close();
  });

  test('is read from its record where its stream can be had no more', async () => {
    const { page, network } = await openThroughProxy();
    let tries = 0;
    await page.route('**/events', (route) => {
      tries += 1;
      return route.abort();
    });
    await page.clock.install();
    await ask(page, QUESTION);
    await untilWriting(page);

    network.cut();
    network.mend();
    await page.locator('.notice').waitFor();
    for (let wanted = 1; wanted <= 5; wanted += 1) {
      await page.clock.fastForward(8000);
      await expect.poll(() => tries, { timeout: 5000 }).toBe(wanted);
    }
    await page.locator('.turn[data-state=done]').waitFor();

    expect(await answerOf(page)).toBe(ANSWER);
    expect(await page.locator('.failure').count()).toBe(0);
    await page.context().close();
  });

  test('is read from its record where the server keeps its stream no more', async () => {
    const { page } = await openPage(browser, app);
    await ask(page, QUESTION);
    await untilWriting(page);
    await page.route('**/events', (route) => route.fulfill({ json: { code: 410, message: 'gone', data: null } }));

    await page.reload();
    await page.locator('.notice', { hasText: '这个问题还在回答中' }).waitFor();
    await page.locator('.turn[data-state=done]').waitFor();

    expect(await answerOf(page)).toBe(ANSWER);
    await page.context().close();
  });

  test('R85 goes on live after a reload, from its beginning', async () => {
    const { page, complaints } = await openPage(browser, app);
    await ask(page, QUESTION);
    await untilWriting(page);

    await page.reload();
    await page.locator('.progress').waitFor();
    const texts = await watchAnswer(page);
    await page.locator('.progress li', { hasText: '撰写回答' }).waitFor();
    await untilWriting(page);
    expect(await page.locator('.turn').getAttribute('data-state')).toBe('running');
    expect(await page.locator('.progress li').count()).toBe(3);
    await shoot(page, 'reloaded-while-writing');
    await page.locator('.turn[data-state=done]').waitFor();

    expect(await answerOf(page)).toBe(ANSWER);
    const seen = await texts();
    expect(seen.filter((text) => !ANSWER.startsWith(text))).toEqual([]);
    expect(seen.length).toBeGreaterThan(5);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('R77 R79 R85 shows that the context is compacted, also after a reload, and what is remembered', async () => {
    const { page, complaints } = await openPage(browser, app);
    script.answer = reply('年休假10天。[1]');
    const summary = heldStep(reply(SUMMARY));
    script.summary = summary.step;
    await ask(page, QUESTION);
    await page.locator('.turn[data-state=done]').waitFor();
    const chatId = await chatIdOf(page);
    for (const round of ['甲', '乙', '丙']) {
      await storeRound(app.ports.store, chatId, { question: round, answer: round, answerTokens: 2500 });
    }

    await ask(page, '那满20年呢？');
    const compacting = page.locator('.turn:last-child .progress .current', { hasText: 'Compacting context' });
    await compacting.waitFor();
    await shoot(page, 'compacting');
    await page.reload();
    await compacting.waitFor();
    summary.letGo();
    await page.locator('.turn:last-child[data-state=done]').waitFor();
    expect(await answerOf(page)).toBe('年休假10天。[1]');
    await page.reload();
    const details = page.locator('.turn:last-child .why');
    await details.locator('> summary').click();
    await details.locator('.memory > summary').focus();
    await page.keyboard.press('Enter');
    await details.locator('.remembered .prose').waitFor();

    expect(await details.locator('.facts').textContent()).toContain('压缩是为这个问题做的');
    expect(await details.locator('.remembered').textContent()).toMatch(/较早的 \d 轮[\s\S]*预算为120万元/);
    expect(await details.locator('.remembered img').count()).toBe(0);
    await details.locator('.remembered').scrollIntoViewIfNeeded();
    await shoot(page, 'remembered');
    await page.setViewportSize({ width: 375, height: 812 });
    await page.locator('#language').click();
    await details.locator('> summary').click();
    await details.locator('.memory > summary').click();
    await details.locator('.remembered .prose').waitFor();
    expect(await details.textContent()).toMatch(/What this conversation remembers[\s\S]*first \d rounds/);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(375);
    await details.locator('.remembered').scrollIntoViewIfNeeded();
    await shoot(page, 'remembered-narrow-english');
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
