import type { Database } from '@pixmesh/postgres/pool';
import type { Check } from '@pixmesh/reconciliation/check';
import { deadLetterCheck } from '@pixmesh/reconciliation/dead-letter-check';
import { outboxCheck } from '@pixmesh/reconciliation/outbox-check';

import { balanceCheck } from './balance-check.ts';
import { ledgerSumCheck } from './ledger-sum-check.ts';
import { partChecks } from './part-checks.ts';

/** What the ledger answers for: its own books. */
export function ledgerChecks(deps: { db: Database }): Check[] {
  return [
    ledgerSumCheck(deps),
    balanceCheck(deps),
    ...partChecks(deps),
    outboxCheck(deps),
    deadLetterCheck(deps),
  ];
}
