import { BODY_BYTES_MAX } from '@pixmesh/http/service-app';
import { describe, test } from 'vitest';

import {
  creation,
  IDEMPOTENT,
  invalid,
  OWNERS_404,
  type RawCase,
  UNAUTHORIZED,
  unread,
  useRawEdge,
  UUID,
} from '#test/raw-edge.ts';

const JSON_TYPE = 'Content-Type: application/json';

const edge = useRawEdge();

describe('headers', () => {
  test.each<RawCase>([
    { name: 'two x-api-key', headers: ['x-api-key: {key}'], ...UNAUTHORIZED },
    { name: 'an empty x-api-key', as: 'anonymous', headers: ['x-api-key:'], ...UNAUTHORIZED },
    {
      name: 'the key as a trailer',
      as: 'anonymous',
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
      headers: ['x-pixmesh-claims: x', 'x-pixmesh-timeout-ms: 1', 'X-Request-Id: mine'],
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
  ])('$name', edge.expectAnswer);
});

const reached = { ...OWNERS_404, reaches: '/v1/charges' } as const;

// Decisions 12 and 253: the owner looks up what the request is about before anybody judges its body.
describe('a body whose headers do not say how to read it is left to its owner', () => {
  const unknown = { type: 'application/octet-stream' };
  const patch = {
    method: 'PATCH',
    target: `/v1/webhooks/${UUID}`,
    ...OWNERS_404,
    reaches: `/v1/webhooks/${UUID}`,
  } as const;
  test.each<RawCase>([
    {
      name: 'two Content-Type',
      ...creation([JSON_TYPE, 'Content-Type: text/plain']),
      ...reached,
      forwarded: unknown,
    },
    {
      name: 'the same Content-Type twice',
      ...creation([JSON_TYPE, JSON_TYPE]),
      ...reached,
      forwarded: unknown,
    },
    {
      name: 'a Content-Type that is none',
      ...creation(['Content-Type: nonsense']),
      ...reached,
      forwarded: unknown,
    },
    {
      name: 'an empty Content-Type',
      ...creation(['Content-Type:']),
      ...reached,
      forwarded: unknown,
    },
    {
      name: 'a Content-Type of nearly all bytes that headers may have',
      ...creation([`Content-Type: application/json; x=${'y'.repeat(7_500)}`]),
      ...reached,
      forwarded: unknown,
    },
    {
      name: 'a Content-Type with bytes beyond ASCII',
      ...creation(['Content-Type: application/json; x=é']),
      ...reached,
      // Node reads headers byte by byte.
      forwarded: { type: Buffer.from('application/json; x=é').toString('latin1') },
    },
    {
      name: 'another Content-Type',
      ...creation(['Content-Type: text/plain']),
      ...reached,
      forwarded: { type: 'text/plain' },
    },
    {
      name: 'two Content-Type of a PATCH',
      ...creation([JSON_TYPE, JSON_TYPE]),
      ...patch,
      forwarded: unknown,
    },
    ...['gzip', 'GZIP', 'br', 'identity, gzip', 'deflate', '', 'identity'].map(
      (coding): RawCase => ({
        name: `Content-Encoding: ${coding}`,
        ...creation([`Content-Encoding: ${coding}`]),
        ...reached,
        forwarded: { coding },
      }),
    ),
    {
      name: 'two Content-Encoding',
      ...creation(['Content-Encoding: identity', 'Content-Encoding: gzip']),
      ...reached,
      forwarded: { coding: 'identity, gzip' },
    },
    {
      name: 'a Content-Encoding of nearly all bytes that headers may have',
      ...creation([`Content-Encoding: identity${','.repeat(7_500)}`]),
      ...reached,
      forwarded: { coding: 'x-unknown' },
    },
    {
      name: 'a coding in chunks',
      ...creation(['Content-Encoding: gzip', 'Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'),
      ...reached,
      forwarded: { coding: 'gzip' },
    },
    {
      name: 'a coding of a PATCH',
      ...creation(['Content-Encoding: gzip']),
      ...patch,
      forwarded: { coding: 'gzip' },
    },
  ])('$name', edge.expectAnswer);
});

describe('where no body is taken, one that is sent means nothing', () => {
  const noBody = (headers: readonly string[], body: string, method = 'DELETE') => ({
    ...creation(headers, body),
    method,
    target: `/v1/webhooks/${UUID}`,
    ...OWNERS_404,
    reaches: `/v1/webhooks/${UUID}`,
    forwarded: {},
  });
  test.each<RawCase>([
    { name: 'no JSON', ...noBody(['Content-Type: nonsense'], 'xyz') },
    { name: 'a coding', ...noBody([JSON_TYPE, 'Content-Encoding: gzip'], '{}') },
    { name: 'two types', ...noBody([JSON_TYPE, JSON_TYPE], '{}') },
    { name: 'chunks', ...noBody(['Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n') },
    { name: 'more than any body may be', ...noBody([JSON_TYPE], 'x'.repeat(BODY_BYTES_MAX + 1)) },
    { name: 'announced and never sent', ...noBody(['Content-Length: 99999999'], '') },
    {
      name: 'a body of a GET',
      ...creation([JSON_TYPE, 'Content-Encoding: gzip'], 'x'.repeat(BODY_BYTES_MAX + 1)),
      method: 'GET',
      ...reached,
      forwarded: {},
    },
  ])('$name', edge.expectAnswer);
});

describe('framing and coding of a body', () => {
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
      as: 'anonymous',
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
    { name: 'a coding of no body', headers: ['Content-Encoding: gzip'], ...reached },
    {
      name: 'a coding, without a key',
      as: 'anonymous',
      ...creation(['Content-Encoding: gzip']),
      ...UNAUTHORIZED,
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
      as: 'anonymous',
      ...creation([JSON_TYPE, 'Expect: 100-continue'], ''),
      ...UNAUTHORIZED,
    },
  ])('$name', edge.expectAnswer);
});
