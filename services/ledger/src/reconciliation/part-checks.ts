import type { Database, Transaction } from '@pixmesh/postgres/pool';
import type { Check, Scope } from '@pixmesh/reconciliation/check';

import { createPendingComparison } from './compare-pending.ts';
import { createStepComparison } from './compare-steps.ts';
import { BLOCKED, comparePart, type ComparedPart, HELD, SUSPENSE } from './part-checks.sql.ts';
import type { Slice } from './slices.ts';

/**
 * Money that waits is explained by what it waits for, cent by cent: suspense by open items, held money by open holds,
 * pending money by its releases, blocked money by what is blocked of each Pix. An open item itself is no break. Items
 * and owners' rows are read in one snapshot.
 */
export function partChecks({ db }: { db: Database }): Check[] {
  return [
    // What is open is little: every run compares all owners.
    partCheck('suspense', () => comparePart(db, SUSPENSE)),
    partCheck('hold_entries', () => comparePart(db, HELD)),
    partCheck('pending_entries', createPendingComparison(db)),
    partCheck('blocked_entries', createStepComparison(db, compareBlocked)),
  ];
}

function partCheck(name: string, compare: (scope: Scope) => Promise<ComparedPart>): Check {
  return {
    name,
    windowMs: 0,
    run: async (scope) => {
      const { compared, unequal } = await compare(scope);
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

/** Each owner once, however many slices it has: with the one that reaches its end. */
async function compareBlocked(tx: Transaction, slices: readonly Slice[]): Promise<ComparedPart> {
  const owners = slices.flatMap(({ accountId, to }) => (to === null ? [accountId] : []));
  return await comparePart(tx, BLOCKED, owners);
}
