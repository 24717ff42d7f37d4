import { DISPUTE_EVENTS, type DisputeEventType } from '@pixmesh/contracts/messages/charge-event.v1';
import { newId } from '@pixmesh/kernel/ids';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';

import type { ChargeRow } from '#charge/charge-row.ts';

import { toDisputeResource } from './dispute-resource.ts';
import type { DisputeRow } from './dispute-row.ts';

/**
 * A catalogue event of a dispute: under its charge's key and number, with the state right after the change. It goes to
 * endpoints only (decision 180).
 */
export function disputeEvent(
  type: DisputeEventType,
  of: { dispute: DisputeRow; charge: ChargeRow; sequence: number; message?: string },
): OutboundEvent {
  const { dispute, charge, sequence, message } = of;
  return outboundEvent(
    DISPUTE_EVENTS[type],
    { key: charge.id, sequence },
    {
      event_id: newId(),
      type,
      version: 1,
      occurred_at: new Date().toISOString(),
      account_id: charge.accountId,
      application_id: charge.applicationId,
      source: charge.source,
      sequence,
      destination: null,
      data: {
        ...toDisputeResource(dispute, charge),
        ...(message === undefined ? {} : { message }),
      },
    },
  );
}
