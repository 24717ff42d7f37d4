import type { HoldIntents } from '@pixmesh/acquirer-orders/hold-intent';
import type { LedgerHolds } from '@pixmesh/ledger-client/ledger-holds';
import { toCents } from '@pixmesh/kernel/money';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { failpoint } from '#failpoints.ts';

import { commitIntent, deleteIntent } from './intents.sql.ts';
import { isVisible, type RefundRow, type VisibleRefund } from './refund-row.ts';
import { holdContradicted } from './refund-metrics.ts';
import { findRefund } from './refunds.sql.ts';

/** A refund costs nothing. */
const NO_FEE = toCents(0n);

export type IntentDeps = {
  db: Database;
  holds: LedgerHolds;
  logger: Logger;
  /** There is a refund to send. */
  wakeRefunds(): void;
};

/** Intents of refunds: what each step of `@pixmesh/acquirer-orders/hold-intent` means here. */
export function refundIntents(deps: IntentDeps): HoldIntents<RefundRow, VisibleRefund> {
  const { db, holds, logger } = deps;
  return {
    holds,
    holdOf: ({ holdId, accountId, id, amount, endToEndId }) => ({
      holdId,
      accountId,
      resourceId: id,
      kind: 'refund',
      amount,
      fee: NO_FEE,
      endToEndId,
    }),
    find: ({ id }) => findRefund(db, id),
    isMade: isVisible,
    commit: (intent) => commitIntent(db, intent),
    drop: (intent) => deleteIntent(db, intent),
    committed: () => deps.wakeRefunds(),
    report: (intent, problem) => holdContradicted(logger, intent, problem),
    failpoint: (name) => failpoint(`charges.refund.${name}`),
  };
}
