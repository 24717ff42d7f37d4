import { expect, test } from 'vitest';
import { z } from 'zod';

import { parseShape, readJsonBody, readJsonObject } from './json-request.ts';

test.each([
  undefined,
  'application/json',
  'Application/JSON; charset=utf-8',
  'application/json ;x=y',
])('the media type %s is taken', (contentType) => {
  expect(readJsonObject(Buffer.from('{"a":1e2}'), contentType)).toEqual({ a: 100 });
});

test.each(['text/plain', 'application/jsonp', 'application/vnd.api+json', '', 'text/json'])(
  'the media type "%s" is refused by its name, whatever the body',
  (contentType) => {
    expect(() => readJsonObject(Buffer.from('{'), contentType)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', details: ['content-type'] }),
    );
  },
);

test.each(['', 'null', '1', '[]', '"text"', '{', '\uD800'])(
  'the body %j is no JSON object',
  (text) => {
    expect(() => readJsonObject(Buffer.from(text), undefined)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', details: ['body'] }),
    );
  },
);

test.each([
  [{ 'content-encoding': 'gzip' }, '{}', 'content-encoding'],
  [{ 'content-encoding': '' }, '{}', 'content-encoding'],
  [{ 'content-encoding': 'identity, gzip' }, '{}', 'content-encoding'],
  [{ 'content-encoding': 'br', 'content-type': 'text/plain' }, '{', 'content-encoding'],
  [{ 'content-encoding': 'identity', 'content-type': 'text/plain' }, '{', 'content-type'],
  [{ 'content-encoding': ' Identity' }, '{', 'body'],
  [{}, '', 'body'],
])('under the headers %j the body %j is refused for its %s', (headers, text, detail) => {
  expect(() => readJsonBody({ headers, body: Buffer.from(text) })).toThrow(
    expect.objectContaining({ code: 'VALIDATION_ERROR', details: [detail] }),
  );
});

test('a body that is coded as itself is read', () => {
  const headers = { 'content-encoding': 'identity', 'content-type': 'application/json' };
  expect(readJsonBody({ headers, body: Buffer.from('{"a":1}') })).toEqual({ a: 1 });
});

test('every fault of shape is named once, as a dotted path', () => {
  const Shape = z.object({
    a: z.int().min(5).max(1),
    b: z.object({ c: z.string() }),
    d: z.string(),
  });
  expect(() => parseShape(Shape, { a: 3, b: { c: 1 } })).toThrow(
    expect.objectContaining({ code: 'VALIDATION_ERROR', details: ['a', 'b.c', 'd'] }),
  );
});

test('what is no object at all is a fault of the body', () => {
  expect(() => parseShape(z.object({}), null)).toThrow(
    expect.objectContaining({ details: ['body'] }),
  );
});
