import { createLogger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { BODY_BYTES_MAX, createServiceApp, ignoreBodies, rawBody } from './service-app.ts';
import { listen, sendInRow, sendRaw } from './testing/raw-request.ts';

let app: FastifyInstance;
let port: number;

beforeAll(async () => {
  app = createServiceApp({ logger: createLogger('test', 'silent'), listener: 'test' });
  app.post('/things', async ({ body, headers }) => ({
    bytes: rawBody(body).length,
    type: headers['content-type'],
    coding: headers['content-encoding'],
  }));
  app.register(async (bodiless) => {
    ignoreBodies(bodiless);
    bodiless.delete('/things', async ({ body }) => ({ bytes: rawBody(body).length }));
  });
  port = await listen(app);
});
afterAll(() => app.close());

const render = (method: string, headers: readonly string[], body: string): string =>
  `${method} /things HTTP/1.1\r\nhost: a\r\n${headers.join('\r\n')}\r\n\r\n${body}`;

const UNKNOWN = 'application/octet-stream';

test.each([
  ['an ill-formed one', ['content-type: nonsense'], UNKNOWN],
  ['one without a subtype', ['content-type: application/'], UNKNOWN],
  ['one with a parameter and no type', ['content-type: ;charset=utf-8'], UNKNOWN],
  ['two with a comma', ['content-type: application/json, text/plain'], UNKNOWN],
  ['an empty one', ['content-type:'], UNKNOWN],
  [
    'the same one twice',
    ['content-type: application/json', 'Content-Type: application/json'],
    UNKNOWN,
  ],
  [
    'one that is longer than can be passed on',
    [`content-type: application/json; x=${'y'.repeat(300)}`],
    UNKNOWN,
  ],
  ['another one', ['content-type: text/plain'], 'text/plain'],
  ['an open parameter', ['content-type: Application/JSON ; x="'], 'Application/JSON ; x="'],
])(
  'a body under %s as its media type reaches its route, and is called what it is',
  async (_what, headers, type) => {
    const answer = await sendRaw(port, render('POST', [...headers, 'content-length: 2'], '{}'));
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toEqual({ bytes: 2, type });
  },
);

test.each([
  ['gzip', 'gzip'],
  ['', ''],
  ['g'.repeat(256), 'x-unknown'],
])('a body under the content coding "%s" reaches its route unread', async (sent, coding) => {
  const answer = await sendRaw(
    port,
    render('POST', [`content-encoding: ${sent}`, 'content-length: 2'], '{}'),
  );
  expect(JSON.parse(answer.body)).toEqual({ bytes: 2, coding });
});

test.each([
  ['of a kind that nobody reads', ['content-type: nonsense', 'content-length: 2'], '{}'],
  ['under a coding', ['content-encoding: gzip', 'content-length: 2'], '{}'],
  ['in chunks', ['transfer-encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'],
  ['far too large', [`content-length: ${4 * BODY_BYTES_MAX}`], 'x'.repeat(4 * BODY_BYTES_MAX)],
])(
  'where no body is taken, one %s is thrown away, and the connection serves on',
  async (_what, headers, body) => {
    const sent = render('DELETE', headers, body);
    expect(await sendRaw(port, sent)).toMatchObject({ status: 200, body: '{"bytes":0}' });
    const next = 'GET /nothing HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
    expect(await sendInRow(port, sent + sent + next)).toEqual([200, 200, 404]);
  },
);
