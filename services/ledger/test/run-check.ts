import assert from 'node:assert';

import type { Database } from '@pixmesh/postgres/pool';
import type { CheckOutcome, Scope } from '@pixmesh/reconciliation/check';

import { ledgerChecks } from '#reconciliation/ledger-checks.ts';

/** A check as reconciliation knows it. What it goes through slowly begins anew with each. */
export function aCheck(db: Database, name: string) {
  const check = ledgerChecks({ db }).find((one) => one.name === name);
  assert(check, `the ledger has the check ${name}`);
  return async (scope: Partial<Scope> = {}): Promise<CheckOutcome> =>
    await check.run({ since: null, knownIds: [], signal: new AbortController().signal, ...scope });
}
