import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { checkConnectionBudget } from './connection-budget.ts';

test('a process whose pools do not fit into what Postgres has left says so with the numbers', async () => {
  await using database = await createTestDatabase('ledger');
  const { db } = database;
  const lines: { msg: string; wanted: number; max: number; held: number }[] = [];
  const logger = createLogger('test', 'warn', {
    write: (line) => void lines.push(JSON.parse(line)),
  });
  await checkConnectionBudget({ db, logger, wanted: 1 });
  expect(lines).toEqual([]);
  await checkConnectionBudget({ db, logger, wanted: 10_000 });
  expect(lines).toMatchObject([
    { msg: 'more database connections wanted than Postgres has left', wanted: 10_000 },
  ]);
  expect(lines[0]?.max).toBeGreaterThan(lines[0]?.held ?? Infinity);
  expect(lines[0]?.held).toBeGreaterThan(0);
});
