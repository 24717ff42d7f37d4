import { releasePendingIdOf } from '@pixmesh/contracts/internal/ledger-command-ids';
import type { Database, Transaction } from '@pixmesh/postgres/pool';
import type { Scope } from '@pixmesh/reconciliation/check';

import {
  countReleasePages,
  findUnequalCredits,
  readPendingCredits,
  sumReleases,
} from './compare-pending.sql.ts';
import { createStepComparison } from './compare-steps.ts';
import { comparePart, type ComparedPart, pendingPart } from './part-checks.sql.ts';
import type { Slice } from './slices.ts';

/** Of the table of releases: some 100,000 rows, far below the limit of a statement's time. */
const PAGES_PER_STATEMENT = 1_000;

/**
 * Pending money against its releases. They have no index by owner: each credit would pay for it (two entries, some 150
 * bytes of WAL), and the millions that one owner can have would still be too much for each run. So a run compares the
 * sums of all owners where everything is asked for, where a difference stands, or where the table is small. Any other
 * compares the credits behind the watermark, each with its own release, by keys.
 */
export function createPendingComparison(db: Database): (scope: Scope) => Promise<ComparedPart> {
  const compareStep = createStepComparison(db, compareCredits);
  return async (scope) => {
    const isAll = scope.since === null || scope.knownIds.length > 0 || (await isSmall(db));
    return isAll ? await compareSums(db, scope) : await compareStep(scope);
  };
}

async function isSmall(db: Database): Promise<boolean> {
  return (await countReleasePages(db)) <= PAGES_PER_STATEMENT;
}

/** In pieces, all of one snapshot: what is booked meanwhile is on neither side. */
async function compareSums(db: Database, { signal }: Scope): Promise<ComparedPart> {
  return await db.snapshot(async (snapshot) => {
    const sums = new Map<string, bigint>();
    let compared = 0;
    const pages = await countReleasePages(snapshot);
    for (let from = 0; from < pages; from += PAGES_PER_STATEMENT) {
      signal.throwIfAborted();
      for (const sum of await sumReleases(snapshot, { from, to: from + PAGES_PER_STATEMENT })) {
        sums.set(sum.accountId, (sums.get(sum.accountId) ?? 0n) + sum.amount);
        compared += sum.count;
      }
    }
    const { unequal } = await comparePart(snapshot, pendingPart(sums));
    return { compared, unequal };
  });
}

/** Credits and their ids never change: only what became of them has to be read in one snapshot. */
async function compareCredits(tx: Transaction, slices: readonly Slice[]): Promise<ComparedPart> {
  const credits = (await readPendingCredits(tx, slices)).map((credit) => ({
    ...credit,
    releaseId: releasePendingIdOf(credit.creditId),
  }));
  return { compared: credits.length, unequal: await findUnequalCredits(tx, credits) };
}
