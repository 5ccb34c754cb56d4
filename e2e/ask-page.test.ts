import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ModelError } from '../server/models/model-error.ts';
import { type AskApp, contentWords, startAskApp, TEST_TOKEN } from '../server/testing/ask-app.ts';
import { describeOnPGlite } from '../server/testing/databases.ts';
import {
  answerFrames,
  ask,
  holdStoredConversation,
  launchChromium,
  MoodyModel,
  openPage,
  shoot,
  tabTo,
} from './browse.ts';

/** Without a browser the suite is skipped by name. */
const CHROMIUM = process.env['KNOWHY_TEST_CHROMIUM'] ?? '';

const TWO_PARTS = '工作满10年的员工年休假有几天？另外，差旅报销要在多少日内提交？';

describeOnPGlite('the ask page', (open) => {
  const model = new MoodyModel(contentWords);
  let app: AskApp;
  let browser: Browser;

  beforeAll(async () => {
    if (CHROMIUM === '') return;
    app = await startAskApp(await open(), { model });
    browser = await launchChromium(CHROMIUM);
  });

  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  beforeEach(() => {
    model.failure = null;
    model.pauseMs = 0;
  });

  const test = it.skipIf(CHROMIUM === '');

  test('asks, shows phases and sources, and shows the same after a reload', async () => {
    const { page, complaints } = await openPage(browser, app);
    model.pauseMs = 300;

    await ask(page, TWO_PARTS);
    await page.locator('.progress li').nth(2).waitFor();
    expect(await page.locator('.progress').textContent()).toContain('第 1 轮检索');
    await shoot(page, 'streaming');
    await page.locator('.sources').waitFor();

    expect(await page.locator('.source').count()).toBe(2);
    expect(await page.locator('.source').first().textContent()).toMatch(
      /员工手册（2024 版）.docx[\s\S]*✓ 已核实[\s\S]*年休假10天/,
    );
    expect(await page.locator('.marker a').first().getAttribute('href')).toMatch(/^#t.*-source-1$/);
    expect(await page.locator('#announcer').textContent()).toBe('回答完成，2 个出处。');
    await page.locator('.why summary').click();
    expect(await page.locator('.trace tbody tr').count()).toBe(1);
    expect(await page.locator('.facts').textContent()).toContain('资料已充分');
    await shoot(page, 'answer');
    const shown = await page.locator('.turn').textContent();

    await page.reload();
    await page.locator('.sources').waitFor();
    await page.locator('.why summary').click();
    expect(await page.locator('.turn').textContent()).toBe(shown);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('goes on in the same conversation and begins a new one', async () => {
    const { page, complaints } = await openPage(browser, app, { locale: 'en-US' });

    await ask(page, '员工每周可以申请几天远程办公？');
    await page.locator('.sources').waitFor();
    await ask(page, '连续输错密码几次会锁定账号？另外，食堂几点开门？');
    await page.locator('.turn >> nth=1').locator('.why').waitFor();
    await page.locator('.turn >> nth=1').locator('.why summary').click();

    expect(await page.locator('.trace').last().textContent()).toContain('Still missing: 食堂几点开门？');
    expect(await page.locator('.facts').last().textContent()).toContain('The last round is carried along');
    await shoot(page, 'follow-up-english');
    await page.locator('#new-conversation').click();
    expect(await page.locator('.turn').count()).toBe(0);
    expect(await page.locator('#question').evaluate((field) => field === document.activeElement)).toBe(true);
    await shoot(page, 'welcome-english');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('says what failed and what to do, also after a reload', async () => {
    const { page, complaints } = await openPage(browser, app);
    const message = 'The model service at models.example is failing (HTTP 503). Check the service, or try again later.';
    model.failure = new ModelError({ code: 'unavailable', message, retryable: true });

    await ask(page, TWO_PARTS);
    await page.locator('.failure').waitFor();
    await page.locator('.why').waitFor();
    const shown = await page.locator('.turn').textContent();
    await shoot(page, 'error');
    await page.reload();
    await page.locator('.failure').waitFor();

    expect(shown).toContain('模型服务无法访问或出错');
    expect(await page.locator('.turn').textContent()).toBe(shown);
    model.failure = null;
    await page.getByRole('button', { name: '重新提问' }).click();
    await page.locator('.sources').waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('shows nothing of a stored conversation that was left while it was loading', async () => {
    const { page, complaints } = await openPage(browser, app);
    await ask(page, TWO_PARTS);
    await page.locator('.sources').waitFor();
    const stored = await holdStoredConversation(page);
    await page.reload();
    await stored.asked;

    expect(await page.locator('#composer').isVisible()).toBe(false);
    await page.locator('#new-conversation').click();
    await page.locator('#composer').waitFor();
    await stored.letGo();
    await ask(page, '员工每周可以申请几天远程办公？');
    await page.locator('.sources').waitFor();

    expect(await page.locator('.turn').count()).toBe(1);
    expect(await page.locator('.turn .question').textContent()).toBe('员工每周可以申请几天远程办公？');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('gives up on a stored question that is never answered, and lets another be asked', async () => {
    const { page } = await openPage(browser, app);
    await ask(page, TWO_PARTS);
    await page.locator('.sources').waitFor();
    await page.route('**/chat_record/**', async (route) => {
      const response = await route.fetch();
      await route.fulfill({
        response,
        body: (await response.text()).replaceAll('"state":"done"', '"state":"running"'),
      });
    });
    await page.clock.install();
    await page.reload();
    await page.locator('.notice', { hasText: '这个问题还在回答中' }).waitFor();

    expect(await page.locator('#send').isVisible()).toBe(false);
    await page.clock.fastForward('10:02');
    await page.locator('.failure').waitFor();

    expect(await page.locator('.failure').textContent()).toContain('10 分钟');
    expect(await page.locator('#send').isVisible()).toBe(true);
    await page.context().close();
  });

  test('says that the page is at fault where it is, and lets another question be asked', async () => {
    const { page, complaints } = await openPage(browser, app);
    await page.evaluate(() => {
      // The first thing a frame of progress does with the page.
      Object.defineProperty(document.getElementById('announcer'), 'textContent', {
        set: (text: string) => {
          if (text.includes('检索')) throw new TypeError('a mistake of the page');
        },
      });
    });

    await ask(page, TWO_PARTS);
    await page.locator('.failure').waitFor();

    expect(await page.locator('.failure').textContent()).toContain('页面');
    expect(await page.locator('#send').isVisible()).toBe(true);
    expect(complaints.join()).toContain('a mistake of the page');
    await page.context().close();
  });

  test('takes the token from the address, hides it, and asks for it where it is missing or wrong', async () => {
    const { page } = await openPage(browser, app);
    expect(page.url()).toBe(`${app.url}/ui/`);

    const stranger = await browser.newPage({ locale: 'zh-CN' });
    await stranger.goto(`${app.url}/ui/`);
    await stranger.locator('#sign-in').waitFor();
    await shoot(stranger, 'sign-in');
    await stranger.locator('#token').fill('a-wrong-token-of-some-length');
    await stranger.keyboard.press('Enter');
    await stranger.locator('#notice p').waitFor();
    await stranger.locator('#token').fill(TEST_TOKEN);
    await stranger.keyboard.press('Enter');
    await stranger.locator('#composer').waitFor();

    expect(await stranger.locator('#sign-in').isVisible()).toBe(false);
    expect(await stranger.locator('#offline').textContent()).toBe('离线模式');
    await stranger.close();
    await page.context().close();
  });

  test('is usable with the keyboard alone, in the dark and on a narrow screen', async () => {
    const options = { colorScheme: 'dark', viewport: { width: 375, height: 812 } } as const;
    const { page, complaints } = await openPage(browser, app, options);

    await page.locator('#question').waitFor();
    await page.keyboard.type(TWO_PARTS);
    await page.keyboard.press('Control+Enter');
    await page.locator('.sources').waitFor();
    await shoot(page, 'narrow-dark');
    await tabTo(page, '.marker a');
    await page.keyboard.press('Enter');
    expect(await page.locator('.source:target').count()).toBe(1);
    await tabTo(page, 'summary');
    await page.keyboard.press('Enter');
    expect(await page.locator('.why').getAttribute('open')).toBe('');
    await shoot(page, 'narrow-dark-trace');

    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBe(375);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('renders no markup, no remote picture and no script of an answer', async () => {
    const { page, complaints } = await openPage(browser, app);
    const answer =
      '<img src=x onerror=alert(1)> ![pixel](https://evil.example/p.png) [go](javascript:alert(1)) **bold** [7]';
    await page.route('**/api/application/chat_message/*', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: answerFrames(answer) }),
    );
    await page.route('**/chat_record/*', (route) => route.abort());

    await ask(page, '会注入吗？');
    await page.locator('.answer strong').waitFor();

    const html = await page.locator('.answer').innerHTML();
    expect(html).not.toMatch(/<img|<script|href="javascript/i);
    expect(html).toContain('&lt;img src=x');
    expect(html).toContain('[图片: pixel]');
    expect(complaints.filter((text) => !text.includes('net::ERR_FAILED'))).toEqual([]);
    await page.context().close();
  });
});
