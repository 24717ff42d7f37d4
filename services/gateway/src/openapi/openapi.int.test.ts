import { readFileSync } from 'node:fs';

import { buildPublicDocument } from '@pixmesh/contracts/openapi/build-public-document';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type Answer, sendRequest } from '#test/send-request.ts';
import { startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

const DOCUMENTS = [
  '/openapi.json',
  '/reference',
  '/reference/scalar.js',
  '/guides/merchants/quick-start.md',
];

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

function get(path: string, headers: readonly string[] = []): Promise<Answer> {
  return sendRequest({ port: gateway.ports.public, path, headers });
}

// First: of a minute's requests of strangers only some are kept.
test.each(DOCUMENTS)('%s stands in the request log, without a key', async (path) => {
  const { headers } = await get(path);
  await eventually(async () => {
    const listed = await gateway.admin('GET', '/admin/requests?limit=100');
    expect(listed.json['data']).toContainEqual(
      expect.objectContaining({ request_id: headers['x-request-id'], route: path, status: 200 }),
    );
  });
});

test('/openapi.json is the committed document, for anybody', async () => {
  const golden = new URL('../../../../docs/openapi/public.json', import.meta.url);
  const answer = await get('/openapi.json');
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.json).toEqual(JSON.parse(readFileSync(golden, 'utf8')));
});

test('/reference is a page that may load its own script and call its own origin, and nothing else', async () => {
  const page = await get('/reference');
  expect(page.status).toBe(200);
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.headers['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'self' 'sha256-[\w+/]+='; .*connect-src 'self'/,
  );
  expect(page.text).not.toMatch(/https?:\/\//);
  const [, script] = /<script src="([^"]+)"/.exec(page.text) ?? [];
  expect(script).toBe('reference/scalar.js');
  expect((await get(`/${script}`)).headers['content-type']).toBe('text/javascript; charset=utf-8');
});

test('every guide that the document links to is served beside it, as text', async () => {
  const links = JSON.stringify(buildPublicDocument()).matchAll(/guides\/merchants\/[\w-]+\.md/g);
  const guides = [...new Set([...links].map(([link]) => link))];
  expect(guides).not.toEqual([]);
  for (const guide of guides) {
    const answer = await get(`/${guide}`);
    expect([guide, answer.status, answer.headers['content-type']]).toEqual([
      guide,
      200,
      'text/plain; charset=utf-8',
    ]);
    expect(answer.text).toMatch(/^# .+\n\nAfter this guide /);
  }
});

describe.each(DOCUMENTS)('%s', (path) => {
  test('carries an entity tag, and whoever has it gets 304', async () => {
    const first = await get(path);
    expect(first.headers['cache-control']).toBe('no-cache');
    const again = await get(path, ['if-none-match', `"other", ${String(first.headers['etag'])}`]);
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test('is sent compressed to whoever takes that', async () => {
    const plain = await get(path);
    const zipped = await get(path, ['accept-encoding', 'br, gzip;q=0.8']);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect((await get(path, ['accept-encoding', 'gzip;q=0'])).text).toBe(plain.text);
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(Number(zipped.headers['content-length'])).toBeLessThan(plain.text.length);
  });

  test('has a request id of its own and one method', async () => {
    expect((await get(path)).headers['x-request-id']).not.toBe(
      (await get(path)).headers['x-request-id'],
    );
    const post = await sendRequest({ port: gateway.ports.public, path, method: 'POST' });
    expect([post.status, post.headers['allow']]).toEqual([405, 'GET']);
    expect((await get(`${path}/`)).json).toMatchObject({ code: 'NOT_FOUND' });
  });
});
