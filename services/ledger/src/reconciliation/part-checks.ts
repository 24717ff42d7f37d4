import type { Queryable } from '@pixmesh/postgres/pool';
import type { Check } from '@pixmesh/reconciliation/check';

import { BLOCKED, comparePart, HELD, type Part, PENDING, SUSPENSE } from './part-checks.sql.ts';

/**
 * Money that waits is explained by what it waits for, cent by cent: suspense by open items, held money by open holds,
 * pending money by its releases, blocked money by what is blocked of each Pix. An open item itself is no break.
 */
export function partChecks({ db }: { db: Queryable }): Check[] {
  return [
    partCheck(db, 'suspense', SUSPENSE),
    partCheck(db, 'hold_entries', HELD),
    partCheck(db, 'pending_entries', PENDING),
    partCheck(db, 'blocked_entries', BLOCKED),
  ];
}

/** Every run compares all owners; items and rows are read in one snapshot. */
function partCheck(db: Queryable, name: string, part: Part): Check {
  return {
    name,
    windowMs: 0,
    run: async () => {
      const { compared, unequal } = await comparePart(db, part);
      return {
        compared,
        breaks: unequal.map(({ accountId, items, stored }) => ({
          kind: 'balance' as const,
          id: accountId,
          accountId,
          expected: String(items),
          found: String(stored),
          amountCents: stored - items,
        })),
      };
    },
  };
}
