import type { Database } from '@pixmesh/postgres/pool';
import type { Check, FoundBreak } from '@pixmesh/reconciliation/check';

import { type BadBalance, findBadBalances, planBySteps } from './check-entries.sql.ts';
import { createSlices } from './slices.ts';

/**
 * Each balance of an owner is the sum of its entries, at every entry on the way, and its journals are numbered
 * without gaps (I2). A running balance that is right at each entry and equal to the row at the last one is the sum.
 */
export function balanceCheck({ db }: { db: Database }): Check {
  const slicesOf = createSlices(db);
  return {
    name: 'balance',
    windowMs: 0,
    run: async (scope) => {
      const breaks: FoundBreak[] = [];
      let compared = 0;
      for await (const step of slicesOf(scope)) {
        scope.signal.throwIfAborted();
        compared += step.journals;
        const bad = await db.transaction(async (tx) => {
          await planBySteps(tx);
          return await findBadBalances(tx, step.slices);
        });
        breaks.push(...bad.map(toBreak));
      }
      return { compared, breaks };
    },
  };
}

function toBreak({ kind, accountId, part, version, expected, found }: BadBalance): FoundBreak {
  return {
    kind,
    accountId,
    id: [accountId, part, version].filter((piece) => piece !== null).join('/'),
    expected: String(expected),
    found: String(found),
    amountCents: kind === 'version' ? null : found - expected,
  };
}
