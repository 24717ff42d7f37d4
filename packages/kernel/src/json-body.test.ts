import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { JSON_DEPTH_MAX, parseJsonBody } from './json-body.ts';

const INVALID = { kind: 'invalid' };

function parse(text: string): ReturnType<typeof parseJsonBody> {
  return parseJsonBody(Buffer.from(text));
}

function nested(levels: number): string {
  return `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
}

describe('parseJsonBody', () => {
  test('reads one object', () => {
    expect(parse(' {"amount": 1e3, "name": "Café ☕"}\n')).toEqual({
      kind: 'ok',
      value: { amount: 1000, name: 'Café ☕' },
    });
  });

  test('ignores a byte order mark', () => {
    expect(parse('\uFEFF{"a":1}')).toEqual({ kind: 'ok', value: { a: 1 } });
  });

  test.each([
    '',
    ' ',
    'null',
    '[]',
    '[{}]',
    '"text"',
    '1',
    'true',
    '{',
    '{"a":1,}',
    "{'a':1}",
    '{}{}',
  ])('refuses %j', (text) => {
    expect(parse(text)).toEqual(INVALID);
  });

  test('keeps the last of duplicate keys', () => {
    expect(parse('{"amount":1,"amount":2}')).toEqual({ kind: 'ok', value: { amount: 2 } });
  });

  test('makes __proto__ an own key that changes no prototype', () => {
    const body = parse('{"__proto__":{"polluted":true}}');
    expect(body.kind === 'ok' && Object.keys(body.value)).toEqual(['__proto__']);
    expect(body.kind === 'ok' && Object.getPrototypeOf(body.value)).toBe(Object.prototype);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  test.each([
    ['a lone continuation byte', [0x80]],
    ['a cut character', [0xe2, 0x98]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate in UTF-8', [0xed, 0xa0, 0x80]],
    ['Latin-1', [0xe9]],
  ])('refuses %s inside a string, and works again afterwards', (_name, bytes) => {
    const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);
    expect(parseJsonBody(body)).toEqual(INVALID);
    expect(parse('{"a":"é"}')).toEqual({ kind: 'ok', value: { a: 'é' } });
  });

  test('refuses UTF-16', () => {
    expect(parseJsonBody(Buffer.from('{"a":1}', 'utf16le'))).toEqual(INVALID);
  });

  test('lets an escaped lone surrogate through to the rules of its field', () => {
    expect(parse(String.raw`{"a":"\ud83d"}`)).toEqual({ kind: 'ok', value: { a: '\uD83D' } });
  });
});

describe('nesting', () => {
  test('takes 16 levels and refuses 17', () => {
    expect(parse(nested(JSON_DEPTH_MAX)).kind).toBe('ok');
    expect(parse(nested(JSON_DEPTH_MAX + 1))).toEqual(INVALID);
  });

  test('counts objects and arrays alike, and siblings not at all', () => {
    expect(parse(`${'{"a":'.repeat(17)}1${'}'.repeat(17)}`)).toEqual(INVALID);
    expect(parse(`{"a":[${'[],{},'.repeat(100)}0]}`).kind).toBe('ok');
  });

  test.each([
    '[[[[[[[[[[[[[[[[[[[[',
    '{{{{{{{{{{{{{{{{{{{{',
    String.raw`\"[[[[[[[[[[[[[[[[[[[`,
    String.raw`\\`,
  ])('brackets inside a string do not count: %s', (content) => {
    expect(parse(`{"a":"${content}","b":[]}`).kind).toBe('ok');
  });

  test('an escaped quote does not hide the brackets behind the string', () => {
    expect(parse(`{"a":"\\\\","b":${'['.repeat(17)}${']'.repeat(17)}}`)).toEqual(INVALID);
  });

  test('counts depth exactly as a walk over the parsed tree does', () => {
    const value = fc.json({ maxDepth: 6 });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), fc.integer({ min: 1, max: 8 }), (raw, max) => {
        const text = `{${Object.entries(raw)
          .map(([key, json]) => `${JSON.stringify(key)}:${json}`)
          .join(',')}}`;
        const isShallow = depthOf(JSON.parse(text)) <= max;
        expect(parseJsonBody(Buffer.from(text), max).kind).toBe(isShallow ? 'ok' : 'invalid');
      }),
    );
  });

  test('five million brackets cost no more than a scan', () => {
    const started = process.threadCpuUsage();
    expect(parse(`{"a":${'['.repeat(5_000_000)}`)).toEqual(INVALID);
    expect(parse(`{"a":"${'['.repeat(5_000_000)}`)).toEqual(INVALID);
    expect(parse(`{"a":${'[],'.repeat(50_000)}`)).toEqual(INVALID);
    expect(process.threadCpuUsage(started).user / 1_000).toBeLessThan(1_000);
  });
});

test('whatever the bytes, it never throws', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(() => parseJsonBody(bytes)).not.toThrow();
    }),
  );
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
