import { expect, test } from 'vitest';

import { selectChangedTests } from './changed-tests.ts';

const graph = new Map([
  ['services/ledger/src/take-hold.ts', new Set<string>()],
  ['services/ledger/src/take-hold.test.ts', new Set(['services/ledger/src/take-hold.ts'])],
  ['services/ledger/src/take-hold.int.test.ts', new Set(['services/ledger/src/take-hold.ts'])],
  ['services/charges/src/charge.int.test.ts', new Set<string>()],
  ['tests/tidy.test.ts', new Set<string>()],
  ['tests/e2e/charge.e2e.test.ts', new Set<string>()],
]);

test('a source brings the tests that need it, and those that read everything', () => {
  expect(selectChangedTests(graph, ['services/ledger/src/take-hold.ts'])).toEqual({
    unit: ['services/ledger/src/take-hold.test.ts', 'tests/tidy.test.ts'],
    int: ['services/ledger/src/take-hold.int.test.ts'],
    e2e: [],
  });
});

test('a migration brings all tests of its service', () => {
  const { int } = selectChangedTests(graph, ['services/charges/migrations/002_more.sql']);
  expect(int).toEqual(['services/charges/src/charge.int.test.ts']);
});

test('the lock file brings all units and all of int; of e2e comes what was changed itself', () => {
  const e2e = 'tests/e2e/charge.e2e.test.ts';
  const selected = selectChangedTests(graph, ['package-lock.json', e2e]);
  expect(selected.int).toHaveLength(2);
  expect(selected.unit).toHaveLength(2);
  expect(selected.e2e).toEqual([e2e]);
});

test('no change brings no test', () => {
  expect(selectChangedTests(graph, [])).toEqual({ unit: [], int: [], e2e: [] });
});
