import { expect, test } from 'vitest';

import { dependentsOf, findImports, workspaceOf } from './import-graph.ts';

const known = new Set([
  'packages/kernel/src/ids.ts',
  'services/ledger/src/main.ts',
  'services/ledger/src/holds/take-hold.ts',
  'services/ledger/test/a-hold.ts',
  'services/ledger/src/holds/holds.sql.ts',
]);

test('an import is found by package, by folder of its service and beside it', () => {
  const text = `
    import { newId } from '@pixmesh/kernel/ids';
    import { aHold } from '#test/a-hold.ts';
    import { takeHold } from '#holds/take-hold.ts';
    import { findHold } from './holds.sql.ts';
    import pg from 'pg';`;
  expect([...findImports('services/ledger/src/holds/holds.test.ts', text, known)].sort()).toEqual([
    'packages/kernel/src/ids.ts',
    'services/ledger/src/holds/holds.sql.ts',
    'services/ledger/src/holds/take-hold.ts',
    'services/ledger/test/a-hold.ts',
  ]);
});

test('a process that a test starts by its path is needed by it', () => {
  const file = 'packages/testkit/src/ledger-process.ts';
  const text = `spawn(process.execPath, ['services/ledger/src/main.ts']);`;
  expect([...findImports(file, text, known)]).toEqual(['services/ledger/src/main.ts']);
});

test('what a change reaches is found over any number of files, in circles too', () => {
  const graph = new Map([
    ['a.test.ts', new Set(['a.ts'])],
    ['a.ts', new Set(['b.ts'])],
    ['b.ts', new Set(['a.ts', 'c.ts'])],
    ['d.test.ts', new Set<string>()],
  ]);
  expect([...dependentsOf(graph, ['c.ts'])].sort()).toEqual(['a.test.ts', 'a.ts', 'b.ts', 'c.ts']);
});

test('a file belongs to its workspace', () => {
  expect(workspaceOf('services/ledger/migrations/001_start.sql')).toBe('services/ledger');
  expect(workspaceOf('deploy/compose/render.ts')).toBe('deploy');
});
