import { sendRaw } from '@pixmesh/http/testing/raw-request';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestSimulator, type TestSimulator } from '#test/test-simulator.ts';

let database: TestDatabase;
let simulator: TestSimulator;
let port: number;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  port = Number(new URL(simulator.url).port);
});
afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Sends what a browser would, word for word; `fetch` chooses these headers by itself. */
async function call(target: string, headers: readonly string[], host = `127.0.0.1:${port}`) {
  const [method] = target.split(' ');
  const body = method === 'GET' || method === 'DELETE' ? '' : '{"name":"manual"}';
  const head = [`host: ${host}`, ...headers, `content-length: ${body.length}`].join('\r\n');
  const answer = await sendRaw(port, `${target} HTTP/1.1\r\n${head}\r\n\r\n${body}`);
  return { status: answer.status, body: answer.body };
}

const CHANGE = 'PUT /control/profile';

describe('a call of a page of another site', () => {
  test.each([
    ['sec-fetch-site', ['sec-fetch-site: cross-site']],
    ['sec-fetch-site', ['sec-fetch-site: same-site']],
    ['sec-fetch-site', ['Sec-Fetch-Site: same-origin', 'Sec-Fetch-Site: cross-site']],
    ['sec-fetch-site', ['sec-fetch-site:']],
    ['origin', ['origin: https://shop.example']],
    ['origin', ['origin: http://localhost:3000']],
    ['origin', ['origin: null']],
    ['origin', ['origin:']],
    ['origin', ['sec-fetch-site: same-origin', 'origin: http://127.0.0.1']],
  ])('is refused for its %s: %j', async (fault, headers) => {
    for (const target of [CHANGE, 'POST /control/pix', 'DELETE /control/faults']) {
      const { status, body } = await call(target, headers);
      expect([target, status, JSON.parse(body)]).toMatchObject([
        target,
        403,
        { code: 'FORBIDDEN', details: [fault] },
      ]);
    }
    expect((await call('GET /control/state', headers)).status).toBe(403);
  });

  test('changes nothing', async () => {
    const body = '{"name":"efi"}';
    for (const header of ['sec-fetch-site: cross-site', 'origin: null', 'host: rebound.example']) {
      const own = header.startsWith('host:') ? '' : `host: 127.0.0.1:${port}\r\n`;
      const head = `${CHANGE} HTTP/1.1\r\n${own}${header}\r\ncontent-length: ${body.length}`;
      expect((await sendRaw(port, `${head}\r\n\r\n${body}`)).status).toBe(403);
    }
    const { body: state } = await simulator.call('GET', '/control/state');
    expect(state).toMatchObject({ profile: 'manual' });
  });

  test('may link to the page, which only shows', async () => {
    expect((await call('GET /', ['sec-fetch-site: cross-site'])).status).toBe(200);
  });
});

describe('a call is taken', () => {
  test.each([
    ['without any such header', () => []],
    [
      'of the page itself',
      () => ['sec-fetch-site: same-origin', `origin: http://127.0.0.1:${port}`],
    ],
    ['of an older browser', () => [`origin: http://127.0.0.1:${port}`]],
    ['whose address was typed', () => ['sec-fetch-site: none']],
  ])('%s', async (_name, headers) => {
    expect((await call(CHANGE, headers())).status).toBe(200);
    expect((await call('GET /control/state', headers())).status).toBe(200);
  });

  test.each([
    'localhost',
    'LOCALHOST:1',
    '127.0.0.1',
    '127.1.2.3:80',
    '[::1]:4010',
    'sim.localhost',
  ])('under a name of this machine: %s', async (host) => {
    expect((await call(CHANGE, [], host)).status).toBe(200);
    expect((await call(CHANGE, [`origin: http://${host}`], host)).status).toBe(200);
  });
});

describe('a name that somebody else may have pointed here', () => {
  const NAMES = ['rebound.example', 'localhost.example:4010', '127.0.0.1.example', '10.0.0.1', ''];

  test.each(NAMES)('is refused on loopback: %j', async (host) => {
    const own = ['sec-fetch-site: same-origin', `origin: http://${host}`];
    for (const target of [CHANGE, 'GET /control/state', 'GET /', 'GET /page/page.js']) {
      const { status, body } = await call(target, own, host);
      expect([target, status, body]).toEqual([target, 403, expect.stringContaining('"host"')]);
    }
  });

  test('reaches the provider’s API, which asks for a token', async () => {
    expect((await call('GET /v2/gn/saldo', [], 'rebound.example')).status).toBe(401);
  });

  test('is taken where other machines reach the listener', async () => {
    await using open = await startTestSimulator(database.url, { HOST: '0.0.0.0' });
    const body = '{"name":"manual"}';
    const head = `${CHANGE} HTTP/1.1\r\nhost: simulator:4010\r\ncontent-length: ${body.length}`;
    const answer = await sendRaw(Number(new URL(open.url).port), `${head}\r\n\r\n${body}`);
    expect(answer.status).toBe(200);
  });
});
