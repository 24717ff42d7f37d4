import { createLogger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createServiceApp, rawBody } from './service-app.ts';
import { listen, sendRaw } from './testing/raw-request.ts';
import { refuseUnreadableBodies } from './unreadable-bodies.ts';

let app: FastifyInstance;
let port: number;

beforeAll(async () => {
  app = createServiceApp({ logger: createLogger('test', 'silent'), listener: 'test' });
  refuseUnreadableBodies(app);
  app.post('/things', async (request) => ({ bytes: rawBody(request.body).length }));
  port = await listen(app);
});
afterAll(() => app.close());

test.each([
  ['content-encoding: gzip', 'content-encoding'],
  ['content-encoding: identity, br', 'content-encoding'],
  ['content-encoding:', 'content-encoding'],
  ['content-type: application/json\r\nContent-Type: application/json', 'content-type'],
])('a body under %j is refused, unread', async (headers, detail) => {
  const answer = await sendRaw(
    port,
    `POST /things HTTP/1.1\r\nhost: a\r\n${headers}\r\ncontent-length: 2\r\n\r\n{}`,
  );
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body)).toMatchObject({ code: 'VALIDATION_ERROR', details: [detail] });
});

test.each([
  ['content-length: 2\r\ncontent-encoding: identity', '{}', 2],
  ['content-length: 2\r\ncontent-type: text/plain', '{}', 2],
  ['content-length: 0\r\ncontent-encoding: gzip', '', 0],
  ['content-encoding: gzip', '', 0],
])('under %j there is nothing that could be misread', async (headers, body, bytes) => {
  const answer = await sendRaw(
    port,
    `POST /things HTTP/1.1\r\nhost: a\r\n${headers}\r\n\r\n${body}`,
  );
  expect(answer).toMatchObject({ status: 200, body: JSON.stringify({ bytes }) });
});
