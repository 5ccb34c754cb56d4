import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { ChatError } from '../chat/chat-error.ts';
import { answerError } from './error-answer.ts';

it('fills a message with the values of the error, not with numbers of its English sentence', async () => {
  const app = Fastify();
  app.decorateRequest('language', 'zh-CN');
  app.setErrorHandler(answerError);
  app.get('/', () => {
    throw new ChatError('question_too_long', '1 question has 2 faults.', [5000, 4000]);
  });

  const response = await app.inject('/');

  expect(response.json()).toMatchObject({
    code: 413,
    message: expect.stringContaining('约 5000 个词元，最多 4000 个'),
  });
});
