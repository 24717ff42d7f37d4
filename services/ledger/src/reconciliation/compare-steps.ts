import type { Database, Transaction } from '@pixmesh/postgres/pool';
import type { Scope } from '@pixmesh/reconciliation/check';

import { planBySteps } from './check-entries.sql.ts';
import type { ComparedPart } from './part-checks.sql.ts';
import { createSlices, type Slice } from './slices.ts';

/** Compares what a run has to compare step after step, each through the indexes. */
export function createStepComparison(
  db: Database,
  compare: (tx: Transaction, slices: readonly Slice[]) => Promise<ComparedPart>,
): (scope: Scope) => Promise<ComparedPart> {
  const slicesOf = createSlices(db);
  return async (scope) => {
    const all: ComparedPart = { compared: 0, unequal: [] };
    for await (const { slices } of slicesOf(scope)) {
      scope.signal.throwIfAborted();
      const step = await db.transaction(async (tx) => {
        await planBySteps(tx);
        return await compare(tx, slices);
      });
      all.compared += step.compared;
      all.unequal.push(...step.unequal);
    }
    return all;
  };
}
