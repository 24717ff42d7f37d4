import { BODY_BYTES_MAX } from '@pixmesh/http/service-app';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  creation,
  IDEMPOTENT,
  invalid,
  OWNERS_404,
  type RawCase,
  type RawJudge,
  startRawJudge,
  UNAUTHORIZED,
  unread,
} from '#testing/raw-judge.ts';

const JSON_TYPE = 'Content-Type: application/json';
const UUID = '019f3a52-1b2c-7d3e-8f4a-5b6c7d8e9f00';

let edge: RawJudge;

beforeAll(async () => {
  edge = await startRawJudge();
});
afterAll(() => edge[Symbol.asyncDispose]());

const judge = (sent: RawCase) => expect(edge.judge(sent)).resolves.toBeUndefined();

describe('headers', () => {
  test.each<RawCase>([
    { name: 'two x-api-key', headers: ['x-api-key: {key}'], ...UNAUTHORIZED },
    { name: 'an empty x-api-key', as: 'nobody', headers: ['x-api-key:'], ...UNAUTHORIZED },
    {
      name: 'the key as a trailer',
      as: 'nobody',
      method: 'POST',
      headers: [IDEMPOTENT, 'Transfer-Encoding: chunked', 'Trailer: x-api-key'],
      body: '2\r\n{}\r\n0\r\nx-api-key: x\r\n\r\n',
      ...UNAUTHORIZED,
    },
    {
      name: 'no Idempotency-Key',
      method: 'POST',
      headers: ['Content-Length: 2'],
      body: '{}',
      status: 400,
      code: 'IDEMPOTENCY_KEY_REQUIRED',
    },
    { name: 'two Idempotency-Key', ...creation([IDEMPOTENT]), ...invalid('Idempotency-Key') },
    {
      name: 'two Idempotency-Key, of which one is empty',
      ...creation(['Idempotency-Key:']),
      ...invalid('Idempotency-Key'),
    },
    {
      name: 'two Content-Type',
      ...creation([JSON_TYPE, 'Content-Type: text/plain']),
      ...invalid('content-type'),
    },
    {
      name: 'the same Content-Type twice',
      ...creation([JSON_TYPE, JSON_TYPE]),
      ...invalid('content-type'),
    },
    {
      name: 'a Content-Type that is none',
      ...creation(['Content-Type: nonsense']),
      ...invalid('content-type'),
    },
    {
      name: 'an empty Content-Type',
      ...creation(['Content-Type:']),
      ...invalid('content-type'),
    },
    {
      name: 'two equal Content-Length',
      ...creation(['Content-Length: 2', 'Content-Length: 2']),
      ...unread('headers'),
    },
    {
      name: 'a Content-Length with a sign',
      ...creation(['Content-Length: +2']),
      ...unread('headers'),
    },
    {
      name: 'a Content-Length beyond all numbers',
      ...creation(['Content-Length: 99999999999999999999']),
      ...unread('headers'),
    },
    { name: 'two Host', headers: ['Host: b'], ...unread('host') },
    {
      name: 'no Host',
      raw: 'GET /v1/charges HTTP/1.1\r\n\r\n',
      ...unread('host'),
    },
    { name: 'a NUL', headers: ['x: a\0b'], ...unread('headers') },
    { name: 'a folded line', headers: ['x: a', ' b'], ...unread('headers') },
    { name: 'a space before the colon', headers: ['x : a'], ...unread('headers') },
    { name: 'too many bytes', headers: [`x: ${'y'.repeat(9_000)}`], ...unread('headers') },
    {
      name: 'headers of the mesh itself',
      target: `/v1/charges/${UUID}`,
      headers: ['x-pixmesh-token: x', 'x-pixmesh-timeout-ms: 1', 'X-Request-Id: mine'],
      ...OWNERS_404,
      reaches: `/v1/charges/${UUID}`,
    },
    {
      name: 'the preface of HTTP/2',
      raw: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      ...unread('headers'),
    },
    { name: 'HTTP/0.9', raw: 'GET /v1/charges\r\n\r\n', ...unread('host') },
    { name: 'a version that does not exist', version: '9.9', ...unread('headers') },
    { name: 'bytes of TLS', raw: Buffer.from('160301020001', 'hex'), ...unread('method') },
  ])('$name', judge);
});

describe('framing and coding of a body', () => {
  const reached = { ...OWNERS_404, reaches: '/v1/charges' } as const;
  const large = `"${'x'.repeat(BODY_BYTES_MAX - 2)}"`;
  const tooLarge = { status: 413, code: 'PAYLOAD_TOO_LARGE' } as const;
  test.each<RawCase>([
    { name: 'exactly as large as allowed', ...creation([JSON_TYPE], large), ...reached },
    { name: 'one byte larger', ...creation([JSON_TYPE], `${large} `), ...tooLarge, closes: true },
    {
      name: 'larger, in chunks',
      ...creation(['Transfer-Encoding: chunked'], `10001\r\n${large} \r\n0\r\n\r\n`),
      ...tooLarge,
      closes: true,
    },
    {
      name: 'larger, and announced alone',
      ...creation(['Content-Length: 99999999'], ''),
      ...tooLarge,
      closes: true,
    },
    {
      name: 'larger, without a key',
      as: 'nobody',
      ...creation([JSON_TYPE], `${large} `),
      ...UNAUTHORIZED,
    },
    {
      name: 'larger, without the scope',
      as: 'reader',
      ...creation([JSON_TYPE], `${large} `),
      status: 403,
      code: 'INSUFFICIENT_SCOPE',
      details: ['charge:write'],
    },
    ...['gzip', 'GZIP', 'br', 'identity, gzip', 'deflate', ''].map((coding): RawCase => ({
      name: `Content-Encoding: ${coding}`,
      ...creation([JSON_TYPE, `Content-Encoding: ${coding}`]),
      ...invalid('content-encoding'),
    })),
    {
      name: 'Content-Encoding: identity says nothing',
      ...creation([JSON_TYPE, 'Content-Encoding: identity']),
      ...reached,
    },
    {
      name: 'a coding in chunks',
      ...creation(['Content-Encoding: gzip', 'Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'),
      ...invalid('content-encoding'),
    },
    {
      name: 'a coding of a PATCH',
      ...creation(['Content-Encoding: gzip']),
      method: 'PATCH',
      target: `/v1/webhooks/${UUID}`,
      ...invalid('content-encoding'),
    },
    {
      name: 'a coding of a body that a GET has, which nobody reads',
      ...creation(['Content-Encoding: gzip']),
      method: 'GET',
      ...reached,
    },
    { name: 'a coding of no body', headers: ['Content-Encoding: gzip'], ...reached },
    {
      name: 'a coding, without a key',
      as: 'nobody',
      ...creation(['Content-Encoding: gzip']),
      ...UNAUTHORIZED,
    },
    {
      name: 'a body of a GET, which nobody reads',
      ...creation([JSON_TYPE], '{"limit":1}'),
      method: 'GET',
      ...reached,
    },
    {
      name: 'chunks',
      ...creation(['Transfer-Encoding: chunked'], '1;x=y\r\n{\r\n1\r\n}\r\n0\r\n\r\n'),
      ...reached,
    },
    {
      name: 'a length beside chunks',
      ...creation(['Content-Length: 5', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
      ...unread('headers'),
    },
    {
      name: 'chunked twice',
      ...creation(['Transfer-Encoding: chunked, chunked'], '0\r\n\r\n'),
      ...unread('headers'),
    },
    {
      name: 'Transfer-Encoding twice',
      ...creation(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
      ...unread('headers'),
    },
    {
      name: 'a transfer coding that is not chunked at its end',
      ...creation(['Transfer-Encoding: chunked, gzip'], '0\r\n\r\n'),
      ...unread('headers'),
    },
    {
      name: 'a transfer coding before chunked',
      ...creation(['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'),
      ...unread('transfer-encoding'),
    },
    {
      name: 'an unknown transfer coding',
      ...creation(['Transfer-Encoding: xchunked'], '0\r\n\r\n'),
      ...unread('headers'),
    },
    {
      name: 'a chunk whose size is none',
      ...creation(['Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'),
      ...unread('body'),
    },
    {
      name: 'chunks with HTTP/1.0',
      ...creation(['Transfer-Encoding: chunked'], '0\r\n\r\n'),
      version: '1.0',
      ...unread('transfer-encoding'),
    },
    {
      name: 'a client that asks before it sends',
      ...creation([JSON_TYPE, 'Expect: 100-continue']),
      ...reached,
    },
    {
      name: 'an expectation that nobody knows',
      ...creation([JSON_TYPE, 'Expect: frob']),
      ...reached,
    },
    {
      name: 'a client that asks before it sends, without a key',
      as: 'nobody',
      ...creation([JSON_TYPE, 'Expect: 100-continue'], ''),
      ...UNAUTHORIZED,
    },
  ])('$name', judge);
});
