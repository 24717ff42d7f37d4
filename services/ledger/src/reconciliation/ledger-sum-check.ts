import type { Database } from '@pixmesh/postgres/pool';
import type { Check, FoundBreak } from '@pixmesh/reconciliation/check';

import {
  type BadJournal,
  findBadJournals,
  planBySteps,
  readLedgerTotal,
} from './check-entries.sql.ts';
import { createSlices } from './slices.ts';

/** Id of the break of the ledger as a whole. */
const WHOLE = 'ledger';

/**
 * Every journal has entries and they net to zero; every entry has its journal; the whole ledger nets to zero (I1).
 * Each step reads one snapshot: a difference is never on its way.
 */
export function ledgerSumCheck({ db }: { db: Database }): Check {
  const slicesOf = createSlices(db);
  return {
    name: 'ledger_sum',
    windowMs: 0,
    run: async (scope) => {
      const breaks: FoundBreak[] = await checkTotal(db);
      let compared = 0;
      for await (const step of slicesOf(scope)) {
        scope.signal.throwIfAborted();
        compared += step.journals;
        const bad = await db.transaction(async (tx) => {
          await planBySteps(tx);
          return await findBadJournals(tx, step.slices);
        });
        breaks.push(...bad.map(toBreak));
      }
      return { compared, breaks };
    },
  };
}

async function checkTotal(db: Database): Promise<FoundBreak[]> {
  const total = await readLedgerTotal(db);
  if (total === 0n) return [];
  return [{ kind: 'sum', id: WHOLE, expected: '0', found: String(total), amountCents: total }];
}

function toBreak({ accountId, version, commandId, total }: BadJournal): FoundBreak {
  const amountCents = total;
  if (commandId === null) {
    const of = { id: `${accountId}/${version}`, accountId, amountCents };
    return { kind: 'missing_left', ...of, expected: 'a journal', found: 'entries alone' };
  }
  const of = { id: commandId, accountId };
  if (total === null) {
    return { kind: 'missing_right', ...of, expected: 'entries', found: 'a journal alone' };
  }
  return { kind: 'sum', ...of, expected: '0', found: String(total), amountCents };
}
