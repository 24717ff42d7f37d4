import { AppError } from '@pixmesh/kernel/app-error';
import { createLogger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { parseShape, readJsonObject } from './json-request.ts';
import { BODY_BYTES_MAX, createServiceApp, EDGE_HEADER_BYTES_MAX, rawBody } from './service-app.ts';
import { listen, sendRaw } from './testing/raw-request.ts';

let app: FastifyInstance;
let port: number;
const slow = Promise.withResolvers<string>();

beforeAll(async () => {
  app = createServiceApp({
    logger: createLogger('test', 'silent'),
    listener: 'test',
    headerBytesMax: EDGE_HEADER_BYTES_MAX,
  });
  app.get('/things/:id', async (request) => request.params);
  app.post('/things', async (request, reply) => {
    const body = readJsonObject(rawBody(request.body), request.headers['content-type']);
    return reply.code(201).send(parseShape(z.object({ amount: z.int() }), body));
  });
  app.get('/fails/:how', async (request) => {
    const { how } = request.params as { how: string };
    if (how === 'refused') throw new AppError('CHARGE_NOT_FOUND', { details: ['id'] });
    if (how === 'unknown-outcome')
      throw new AppError('DEPENDENCY_UNAVAILABLE', {
        message: 'secret',
        extra: { charge_id: 'c' },
      });
    throw new TypeError('password of the database');
  });
  app.get('/files/*', async () => 'file');
  app.post('/slow', async () => await slow.promise);
  port = await listen(app);
});

afterAll(() => {
  slow.resolve('done');
  return app.close();
});

describe('every failure is answered with the envelope', () => {
  const json = { 'content-type': 'application/json' };
  const large = 'x'.repeat(BODY_BYTES_MAX + 1);
  test.each([
    ['an unknown route', { url: '/nothing' }, 404, 'NOT_FOUND', []],
    ['a broken escape outside a parameter', { url: '/thin%zz/1' }, 404, 'NOT_FOUND', []],
    ['a parameter without characters', { url: '/things/' }, 404, 'NOT_FOUND', []],
    ['a trailing slash', { url: '/things/1/' }, 404, 'NOT_FOUND', []],
    ['another case', { url: '/Things/1' }, 404, 'NOT_FOUND', []],
    ['a refusal', { url: '/fails/refused' }, 404, 'CHARGE_NOT_FOUND', ['id']],
    ['a bug', { url: '/fails/bug' }, 500, 'INTERNAL_ERROR', []],
    ['an unknown outcome', { url: '/fails/unknown-outcome' }, 500, 'INTERNAL_ERROR', []],
    ['no body', post({}, ''), 400, 'VALIDATION_ERROR', ['body']],
    ['no JSON', post(json, '{'), 400, 'VALIDATION_ERROR', ['body']],
    ['no object', post(json, '[1]'), 400, 'VALIDATION_ERROR', ['body']],
    [
      'another media type',
      post({ 'content-type': 'text/plain' }, '{}'),
      400,
      'VALIDATION_ERROR',
      ['content-type'],
    ],
    [
      'no media type at all',
      post({ 'content-type': 'nonsense' }, '{}'),
      400,
      'VALIDATION_ERROR',
      ['content-type'],
    ],
    ['a faulty shape', post(json, '{"amount":"1"}'), 400, 'VALIDATION_ERROR', ['amount']],
    ['too large a body', post(json, large), 413, 'PAYLOAD_TOO_LARGE', []],
  ] as const)('%s', async (_what, request, status, code, details) => {
    const answer = await app.inject(request);
    expect(answer.statusCode).toBe(status);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.json()).toMatchObject({ code, details });
    expect(answer.json<{ message: string }>().message).not.toMatch(/secret|password/);
  });

  test('an unknown outcome keeps what it names beside the code', async () => {
    const answer = await app.inject({ url: '/fails/unknown-outcome' });
    expect(answer.json()).toMatchObject({ charge_id: 'c' });
  });
});

test.each([
  ['POST', '/things/1', 'GET'],
  ['DELETE', '/things', 'POST'],
  ['PUT', '/files/a/b', 'GET'],
  ['OPTIONS', '/things/1', 'GET'],
  ['PUT', '/%74hings/1', 'GET'],
  ['PUT', '/things/a%2Fb#part', 'GET'],
] as const)('%s %s is a known path with another method', async (method, url, allow) => {
  const answer = await app.inject({ method, url });
  expect(answer.statusCode).toBe(405);
  expect(answer.headers.allow).toBe(allow);
  expect(answer.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
});

test('HEAD is another method than GET, and its answer has no body', async () => {
  const answer = await sendRaw(
    port,
    'HEAD /things/1 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
  );
  expect(answer).toMatchObject({ status: 405, body: '' });
});

test('a path with another method is refused before a body is read', async () => {
  for (const method of ['QUERY', 'PROPFIND', 'PUT']) {
    for (const headers of [
      'content-length: 999999',
      'content-type: nonsense\r\ncontent-length: 2',
    ]) {
      const answer = await sendRaw(
        port,
        `${method} /things HTTP/1.1\r\nhost: a\r\n${headers}\r\n\r\n`,
      );
      expect(answer.status).toBe(405);
      expect(answer.head).toContain('allow: post');
    }
  }
});

test.each([
  ['/things/%zz', '%zz'],
  ['/things/%c3%28', '%c3%28'],
  ['/things/%E0', '%E0'],
  ['/things/%00', '\0'],
  ['/things/%C3%A9', 'é'],
])('an id with an escape that is none reaches its route as it stands: %s', async (url, id) => {
  expect((await app.inject({ url })).json()).toEqual({ id });
});

test('what was answered is reported with the time that it took, as is measured', async () => {
  let reportedMs = 0;
  const { promise: isReported, resolve: report } = Promise.withResolvers<void>();
  const observed = createServiceApp({
    logger: createLogger('test', 'silent'),
    listener: 'test',
    onAnswered: (_request, _reply, { durationMs }) => {
      reportedMs = durationMs;
      report();
    },
  });
  let workedMs = 0;
  observed.get('/work', async () => {
    const startedMs = performance.now();
    while (workedMs < 5) workedMs = performance.now() - startedMs;
    return {};
  });
  const port = await listen(observed);
  await sendRaw(port, 'GET /work HTTP/1.1\r\nhost: a\r\n\r\n');
  await isReported;
  await observed.close();
  expect(reportedMs).toBeGreaterThanOrEqual(workedMs);
});

test('what was answered is reported once, also where nothing was read or nobody waits any more', async () => {
  const reported: string[] = [];
  const observed = createServiceApp({
    logger: createLogger('test', 'silent'),
    listener: 'test',
    onAnswered: (request, _reply, { status }) =>
      reported.push(`${request.method} ${request.routeOptions.url} ${status}`),
    onRefused: ({ status }) => reported.push(`refused ${status}`),
  });
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  observed.get('/things/:id', async () => ({}));
  observed.get('/slow', async () => {
    begun.resolve();
    await end.promise;
    return {};
  });
  const port = await listen(observed);
  const get = (target: string) => sendRaw(port, `GET ${target} HTTP/1.1\r\nhost: a\r\n\r\n`);
  for (const target of ['/things/1', '/nothing', '/things/', 'http://a/']) await get(target);
  await sendRaw(port, 'FROB / HTTP/1.1\r\n\r\n');
  const leaving = new AbortController();
  const left = fetch(`http://127.0.0.1:${port}/slow`, { signal: leaving.signal });
  await begun.promise;
  leaving.abort();
  await expect(left).rejects.toThrow('aborted');
  await expect.poll(() => reported).toHaveLength(6);
  end.resolve();
  await observed.close();
  expect(reported).toEqual([
    'GET /things/:id 200',
    'GET undefined 404',
    'GET undefined 404',
    'GET undefined 400',
    'refused 400',
    'GET /slow 499',
  ]);
});

test('an id of any length that passed the edge reaches its route behind it, token and all', async () => {
  const inner = createServiceApp({ logger: createLogger('test', 'silent'), listener: 'test' });
  inner.get('/things/:id', async (request) => request.params);
  // A byte that came as it is, and is six characters once it is escaped.
  const id = '\u00e9'.repeat(EDGE_HEADER_BYTES_MAX);
  const token = 'x'.repeat(EDGE_HEADER_BYTES_MAX - 200);
  const answer = await sendRaw(
    await listen(inner),
    `GET /things/${encodeURIComponent(id)} HTTP/1.1\r\nhost: a\r\nx-token: ${token}\r\n\r\n`,
  );
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.body)).toEqual({ id });
  await inner.close();
});

test('a connection that is busy when the stop begins ends with its answer', async () => {
  const stopping = createServiceApp({ logger: createLogger('test', 'silent'), listener: 'test' });
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  stopping.get('/slow', async () => {
    begun.resolve();
    await end.promise;
    return {};
  });
  stopping.addHook('preClose', async () => end.resolve());
  await stopping.listen({ host: '127.0.0.1', port: 0 });
  const answering = fetch(`${stopping.listeningOrigin}/slow`);
  await begun.promise;
  const closing = stopping.close();
  expect((await answering).headers.get('connection')).toBe('close');
  await closing;
});

test('a missing media type is tolerated if the body parses', async () => {
  const answer = await app.inject({ method: 'POST', url: '/things', payload: '{"amount":1}' });
  expect(answer.statusCode).toBe(201);
});

describe('what the HTTP parser refuses', () => {
  test.each([
    ['malformed HTTP', 'NONSENSE\r\n\r\n'],
    ['an unknown method', 'FROB / HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['headers above their limit', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(9_000)}\r\n\r\n`],
    ['length and chunks', framed('content-length: 2\r\ntransfer-encoding: chunked', '0\r\n\r\n')],
    ['two lengths', framed('content-length: 2\r\ncontent-length: 3', '{}')],
    ['a signed length', framed('content-length: +2', '{}')],
    ['a space before the colon', framed('content-length : 2', '{}')],
    ['a folded header', framed('content-length: 2\r\nx: a\r\n b', '{}')],
    ['a bare line feed', 'GET /things/1 HTTP/1.1\nhost: a\n\n'],
    ['an unknown coding', framed('transfer-encoding: frob', '{}')],
    ['a NUL in a header', framed('x: \0\r\ncontent-length: 2', '{}')],
    ['a broken chunk', framed('transfer-encoding: chunked', 'zz\r\n{}\r\n')],
  ])('%s: 400 in the envelope, and the connection ends', async (_what, text) => {
    const answer = await sendRaw(port, text);
    expect(answer.status).toBe(400);
    expect(answer.head).toContain('connection: close');
    expect(answer.head).toMatch(/x-request-id: [0-9a-f-]{36}/);
    expect(answer.head).toContain('cache-control: no-store');
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  test.each([
    ['bytes that are no request', '\0\0\0\0'],
    ['a malformed request', 'NONSENSE\r\n\r\n'],
  ])('%s behind a request at work: the connection ends without an answer', async (_what, text) => {
    const answer = await sendRaw(port, `${framed('content-length: 2', '{}', '/slow')}${text}`);
    expect(answer).toMatchObject({ closed: true, head: '', body: '' });
  });
});

describe('what the parser takes and two readers could understand differently', () => {
  test.each([
    ['two Host headers', 'GET /things/1 HTTP/1.1\r\nhost: a\r\nHost: b\r\n\r\n', 'host'],
    ['no Host header', 'GET /things/1 HTTP/1.1\r\n\r\n', 'host'],
    ['an absolute target', 'GET http://b/things/1 HTTP/1.1\r\nhost: a\r\n\r\n', 'request-target'],
    ['an asterisk', 'OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n', 'request-target'],
    [
      'a transfer coding before chunked',
      framed('transfer-encoding: gzip, chunked', '0\r\n\r\n'),
      'transfer-encoding',
    ],
    [
      'HTTP/1.0 with chunks',
      'POST /things HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      'transfer-encoding',
    ],
  ])('%s: refused, and the connection ends', async (_what, text, detail) => {
    const answer = await sendRaw(port, text);
    expect(answer.status).toBe(400);
    expect(answer.head).toContain('connection: close');
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'VALIDATION_ERROR', details: [detail] });
  });

  test('HTTP/1.0 without a Host is served', async () => {
    expect((await sendRaw(port, 'GET /things/1 HTTP/1.0\r\n\r\n')).status).toBe(200);
  });

  test('an expectation that we do not know changes nothing', async () => {
    const answer = await sendRaw(port, 'GET /things/1 HTTP/1.1\r\nhost: a\r\nexpect: frob\r\n\r\n');
    expect(answer).toMatchObject({ status: 200, body: '{"id":"1"}' });
  });

  test('an upgrade that we do not know is an ordinary request', async () => {
    const upgrade = 'connection: upgrade\r\nupgrade: websocket';
    const answer = await sendRaw(port, `GET /things/1 HTTP/1.1\r\nhost: a\r\n${upgrade}\r\n\r\n`);
    expect(answer.status).toBe(200);
  });

  test('CONNECT is not answered', async () => {
    const answer = await sendRaw(port, 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n');
    expect(answer).toMatchObject({ closed: true, body: '' });
  });
});

test('slow and greedy clients meet a limit', () => {
  expect(app.server.headersTimeout).toBe(5_000);
  expect(app.server.requestTimeout).toBe(15_000);
  expect(app.server.maxHeadersCount).not.toBe(0);
  expect(app.server.maxConnections).toBe(10_000);
  expect(app.server.maxRequestsPerSocket).toBe(100_000);
});

test(
  'a request whose headers do not end is closed in time, without a 4xx that would forbid another try',
  // Sooner than a whole request has to be there.
  { timeout: 14_000 },
  async () => {
    const answer = await sendRaw(port, 'GET /things/1 HTTP/1.1\r\nhost:');
    expect(answer).toMatchObject({ closed: true, head: '', body: '' });
  },
);

function post(headers: Record<string, string>, payload: string) {
  return { method: 'POST', url: '/things', headers, payload } as const;
}

function framed(headers: string, body: string, target = '/things'): string {
  return `POST ${target} HTTP/1.1\r\nhost: a\r\n${headers}\r\n\r\n${body}`;
}
