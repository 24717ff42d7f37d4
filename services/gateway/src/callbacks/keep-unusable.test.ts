import type { Logger } from '@pixmesh/telemetry/logger';
import { beforeEach, expect, test } from 'vitest';

import { BODIES_MAX, BYTES_MAX, createKeepUnusable, type KeepUnusable } from './keep-unusable.ts';

const HOUR_MS = 60 * 60 * 1000;
const MINUTE_MS = 60 * 1000;

let nowMs: number;
let lines: object[];
let keep: KeepUnusable;

beforeEach(() => {
  nowMs = 7;
  lines = [];
  const logger = { warn: (fields: object) => void lines.push(fields) } as unknown as Logger;
  keep = createKeepUnusable({ logger, now: () => nowMs });
});

function countKept(bodies: number, body: Buffer): number {
  return Array.from({ length: bodies }, () => keep(body)).filter(Boolean).length;
}

test('so many bodies of a window are kept, and again in the next one', () => {
  expect(countKept(BODIES_MAX + 50, Buffer.from('x'))).toBe(BODIES_MAX);
  nowMs += HOUR_MS - 1;
  expect(keep(Buffer.from('x'))).toBe(false);
  nowMs += 1;
  expect(countKept(BODIES_MAX + 50, Buffer.from('x'))).toBe(BODIES_MAX);
});

test('so many bytes of a window are kept, and a smaller body still finds room', () => {
  const large = Buffer.alloc(BYTES_MAX / 4 - 1);
  expect(countKept(10, large)).toBe(4);
  expect(keep(Buffer.from('x'))).toBe(true);
});

test('of the others the log has a line a minute, with their number, their bytes and a digest', () => {
  countKept(BODIES_MAX, Buffer.alloc(0));
  countKept(1_000, Buffer.from('abc'));
  expect(lines).toEqual([
    {
      bodies: 1,
      bytes: 3,
      sha256_of_last: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    },
  ]);
  nowMs += MINUTE_MS;
  keep(Buffer.from('abc'));
  expect(lines.slice(1)).toMatchObject([{ bodies: 1_000, bytes: 3_000 }]);
});
