import { createHash } from 'node:crypto';

import { newId } from '@pixmesh/kernel/ids';
import type { Transaction } from '@pixmesh/postgres/pool';

import { currentClientAddress } from '#edge/client-address.ts';

import { insertAuditEntry } from './audit-log.sql.ts';

export type AuditAction =
  | 'operator.created'
  | 'operator.removed'
  | 'account.created'
  | 'account.updated'
  | 'application.created'
  | 'application.updated'
  | 'key.created'
  | 'key.updated'
  | 'key.revoked'
  | 'payout.creation_requested'
  | 'payout.created'
  | 'payout.approval_requested'
  | 'payout.approved'
  | 'payout.cancellation_requested'
  | 'payout.canceled'
  | 'payout.check_requested'
  | 'payout.checked'
  | 'payouts.stop_requested'
  | 'payouts.stopped'
  | 'payouts.resumption_requested'
  | 'payouts.resumed'
  | 'charge.creation_requested'
  | 'charge.created'
  | 'charge.cancellation_requested'
  | 'charge.canceled'
  | 'charge.check_requested'
  | 'charge.checked'
  | 'refund.creation_requested'
  | 'refund.created'
  | 'dispute.defense_requested'
  | 'dispute.defended'
  | 'dispute.message_requested'
  | 'dispute.message_sent'
  | 'suspense.resolution_requested'
  | 'suspense.resolution_accepted'
  | 'webhook.change_requested'
  | 'webhook.changed'
  | 'webhook.test_requested'
  | 'webhook.test_queued'
  | 'delivery.resend_requested'
  | 'delivery.resend_queued'
  | 'recovery.creation_requested'
  | 'recovery.created'
  | 'recovery.cancellation_requested'
  | 'recovery.canceled'
  | 'reconciliation.run_requested'
  | 'dead_letter.replay_requested'
  | 'dead_letter.dismissal_requested'
  | 'dead_letter.dismissed';

export type TargetKind =
  | 'operator'
  | 'account'
  | 'application'
  | 'key'
  | 'payout'
  | 'payout_stop'
  | 'charge'
  | 'refund'
  | 'dispute'
  | 'suspense_item'
  | 'webhook'
  | 'delivery'
  | 'recovery'
  | 'reconciliation'
  | 'dead_letter';

type Change = {
  actor: string;
  action: AuditAction;
  target: { kind: TargetKind; id: string };
  /** The resource as `/admin` shows it, without secrets; null where it did not or does not exist. */
  before: object | null;
  after: object | null;
};

/**
 * Writes who changed what, in the transaction of the change. Digests let an auditor prove what a state was,
 * while the log itself holds no personal data.
 */
export async function recordChange(tx: Transaction, change: Change): Promise<void> {
  await insertAuditEntry(tx, {
    id: newId(),
    actor: change.actor,
    action: change.action,
    targetKind: change.target.kind,
    targetId: change.target.id,
    digestBefore: digest(change.before),
    digestAfter: digest(change.after),
    clientAddress: currentClientAddress(),
  });
}

/** What the log stores of a state. */
export function digest(state: object | null): Buffer | null {
  return state && createHash('sha256').update(JSON.stringify(state)).digest();
}
