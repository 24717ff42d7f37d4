import { describeAnswer } from '@pixmesh/acquirer/describe-answer';
import type { OperatorPayout } from '@pixmesh/contracts/internal/operator-payouts';

import { toPayoutResource } from '#payouts/payout-resource.ts';
import type { VisiblePayout } from '#payouts/payout-row.ts';

/** The payout as operators see it: the public fields, and what explains where it stands. */
export function toOperatorPayout(row: VisiblePayout): OperatorPayout {
  return {
    ...toPayoutResource(row),
    account_id: row.accountId,
    application_id: row.applicationId,
    source: row.source,
    requested_by: row.requestedBy,
    approved_by: row.approvedBy,
    pending_reason: row.pendingReason,
    hold_id: row.holdId,
    end_to_end_id: row.endToEndId,
    contradiction: row.contradiction,
    send: {
      send_at: row.sendAt?.toISOString() ?? null,
      unanswered_puts: row.unansweredCalls,
      last_put_at: row.lastCallAt?.toISOString() ?? null,
      last_put_error: row.lastCallError,
      uncounted_refusal: row.uncountedRefusal,
      ending: row.ending,
    },
    status_check: {
      checked_at: row.lastCheckAt?.toISOString() ?? null,
      acquirer: row.lastCheckAnswer === null ? null : describeAnswer(row.lastCheckAnswer),
      next_check_at: row.nextCheckAt?.toISOString() ?? null,
    },
  };
}
