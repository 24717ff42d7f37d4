import { describeAnswer } from '@pixmesh/acquirer/describe-answer';
import type { Receiver } from '@pixmesh/contracts/http/charge';
import type { OperatorCharge } from '@pixmesh/contracts/internal/operator-charges';

import { toChargeResource } from '#charge/charge-resource.ts';
import type { ChargeRow } from '#charge/charge-row.ts';

/** The charge as operators see it: the public fields, and what explains where it stands. */
export function toOperatorCharge(row: ChargeRow, receiver: Receiver): OperatorCharge {
  return {
    ...toChargeResource(row, receiver),
    account_id: row.accountId,
    application_id: row.applicationId,
    source: row.source,
    accepted_end_to_end_id: row.acceptedE2e,
    issuing: {
      // Whatever ended the issuing answered them all.
      unanswered_puts: row.status === 'processing' ? row.unansweredCalls : 0,
      last_put_at: row.lastCallAt?.toISOString() ?? null,
      last_put_error: row.lastCallError,
      uncounted_refusal: row.uncountedRefusal,
    },
    status_check: {
      checked_at: row.lastCheckAt?.toISOString() ?? null,
      acquirer: row.lastCheckAnswer === null ? null : describeAnswer(row.lastCheckAnswer),
      next_check_at: row.nextCheckAt?.toISOString() ?? null,
    },
  };
}
