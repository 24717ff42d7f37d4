import { recordStatements } from '@pixmesh/testkit/record-statements';
import { expect, test } from 'vitest';

import { MIGRATION_LOCK } from './migrate.ts';
import { claimEvents } from './outbox-queue.sql.ts';

// These words stand in tables and are agreed between versions that run side by side. A test that fails says that their
// meaning has changed: mend the code, never the expected value.

test('deploy jobs of all versions wait for each other', () => {
  expect(MIGRATION_LOCK).toBe('pixmesh-migrate');
});

test('the lease of the relay keeps its name', async () => {
  const [text] = await recordStatements(claimEvents);
  expect(text).toMatch(/from leases\s+where name = 'outbox-relay'\s.*?\sfor update skip locked/s);
});
