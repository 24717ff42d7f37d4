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
      uncounted_refusal: row.uncountedRefusal,
    },
  };
}
