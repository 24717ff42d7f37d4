import { afterAll, beforeAll, expect, test } from 'vitest';

import { sendRequest } from '#test/send-request.ts';
import { startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

const PATH = '/.well-known/security.txt';
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({
    SECURITY_CONTACT: 'mailto:security@example.com',
    SECURITY_TXT_URL: 'https://pix.example.com/.well-known/security.txt',
  });
});
afterAll(() => gateway[Symbol.asyncDispose]());

test('security.txt names a contact, its own address and a date within a year, to anybody', async () => {
  const answer = await sendRequest({ port: gateway.ports.public, path: PATH });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
  const fields = Object.fromEntries(
    answer.text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(': ', 2)),
  ) as Record<string, string>;
  expect(fields).toEqual({
    Contact: 'mailto:security@example.com',
    Canonical: 'https://pix.example.com/.well-known/security.txt',
    Expires: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    'Preferred-Languages': 'en, pt',
  });
  const restMs = new Date(fields['Expires'] ?? '').getTime() - Date.now();
  expect(restMs).toBeGreaterThan(0);
  expect(restMs).toBeLessThan(YEAR_MS);
});

test('security.txt has one method, and one listener', async () => {
  const head = await sendRequest({ port: gateway.ports.public, path: PATH, method: 'POST' });
  expect([head.status, head.headers['allow']]).toEqual([405, 'GET']);
  expect((await sendRequest({ port: gateway.ports.admin, path: PATH })).status).toBe(404);
});

test('a configured date is taken as it is', async () => {
  await using dated = await startTestGateway({
    SECURITY_CONTACT: 'https://example.com/report',
    SECURITY_TXT_EXPIRES: '2099-01-01T00:00:00-03:00',
  });
  const answer = await sendRequest({ port: dated.ports.public, path: PATH });
  expect(answer.text).toContain('Expires: 2099-01-01T03:00:00.000Z\n');
  expect(answer.text).not.toContain('Canonical');
});

test('without a contact there is no security.txt', async () => {
  await using silent = await startTestGateway();
  expect((await sendRequest({ port: silent.ports.public, path: PATH })).json).toMatchObject({
    code: 'NOT_FOUND',
  });
});
