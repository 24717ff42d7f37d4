import { afterEach, expect, test, vi } from 'vitest';

import { findOverdraft } from './connection-budget.ts';
import { parseScale } from './scale.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test('four processes of every service fit into the Postgres of the stack', () => {
  const scale = parseScale(['gateway=4,charges=4,ledger=4,payouts=4,webhook-dispatcher=4']);
  expect(findOverdraft(scale, 600)).toBeNull();
});

test('what does not fit is said in one line with its numbers', () => {
  expect(findOverdraft(parseScale(['charges=2,ledger=3']), 200)).toBe(
    'too many processes for Postgres: ledger 3 x 12 + charges 2 x 20 + payouts 1 x 20 + webhook-dispatcher 1 x 32' +
      ' + gateway 1 x 16 = 144 connections, but max_connections 200 leaves 100',
  );
});

test('a pool size that the shell gives is counted', () => {
  vi.stubEnv('DATABASE_POOL_SIZE', '100');
  expect(findOverdraft(new Map(), 400)).toContain('webhook-dispatcher 1 x 200 + gateway 1 x 108');
});

test('what others hold of a Postgres that was given is not ours to count on', () => {
  expect(findOverdraft(new Map(), 240, 40)).toBeNull();
  expect(findOverdraft(new Map(), 240, 41)).toContain(
    '= 100 connections, but max_connections 240 leaves 99 beside 41 of other databases',
  );
});
