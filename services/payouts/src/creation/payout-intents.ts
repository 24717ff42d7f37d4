import type { HoldIntents } from '@pixmesh/acquirer-orders/hold-intent';
import type { LedgerHolds } from '@pixmesh/ledger-client/ledger-holds';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { holdContradicted } from '#reports.ts';
import { failpoint } from '#failpoints.ts';
import type { SendAtOnce } from '#sending/send-at-once.ts';
import { isVisible, type PayoutRow, type VisiblePayout } from '#payouts/payout-row.ts';
import { findPayout } from '#payouts/payouts.sql.ts';

import type { IntentCommits } from './commit-intents.sql.ts';
import { deleteIntent } from './intents.sql.ts';

export type IntentDeps = {
  db: Database;
  commits: IntentCommits;
  holds: LedgerHolds;
  logger: Logger;
  /** Wakes the outbox relay after a commit. */
  wakeOutbox(): void;
  sendAtOnce: SendAtOnce;
};

/** Intents of payouts: what each step of `@pixmesh/acquirer-orders/hold-intent` means here. */
export function payoutIntents(deps: IntentDeps): HoldIntents<PayoutRow, VisiblePayout> {
  const { db, commits, holds, logger } = deps;
  return {
    holds,
    holdOf: ({ holdId, accountId, id, amount, fee }) => ({
      holdId,
      accountId,
      resourceId: id,
      kind: 'payout',
      amount,
      fee,
      endToEndId: null,
    }),
    find: ({ accountId, id }) => findPayout(db, accountId, id),
    isMade: isVisible,
    commit: (intent) =>
      intent.isAutomatic
        ? deps.sendAtOnce((leaseMs) => commits.commit(intent, leaseMs))
        : commits.commit(intent, null),
    drop: (intent) => deleteIntent(db, intent),
    committed: deps.wakeOutbox,
    report: (intent, problem) => holdContradicted(logger, intent, problem),
    failpoint: (name) => failpoint(`payouts.create.${name}`),
  };
}
