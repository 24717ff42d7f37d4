import type { Dispute } from '@pixmesh/contracts/http/dispute';
import type { DisputeEvent, DisputeEventType } from '@pixmesh/contracts/messages/charge-event.v1';
import { newId } from '@pixmesh/kernel/ids';

import { aResourceEnvelope, type EnvelopeChanges } from './a-resource-envelope.ts';

type EventChanges = Omit<EnvelopeChanges, 'url' | 'secret'> & {
  type?: DisputeEventType;
  dispute?: Partial<Dispute>;
};

/** A message about a dispute on `charges.events.v1`; no dispute has a URL of its own (decision 180). */
export function aDisputeEvent(changes: EventChanges = {}): DisputeEvent {
  const { type = 'dispute.pix.opened', dispute, ...envelope } = changes;
  const data: Dispute = {
    id: newId(),
    object: 'dispute',
    charge_id: newId(),
    status: 'open',
    method: 'pix',
    amount: 1_990,
    returned_amount: 0,
    currency: 'BRL',
    reference: 'order-1',
    reason: 'scam',
    arrived_resolved: false,
    opened_at: '2026-11-21T12:00:00.000Z',
    defense_deadline_at: '2026-11-24T12:00:00.000Z',
    resolved_at: null,
    ...dispute,
  };
  return { ...aResourceEnvelope(data.id, { ...envelope, url: null }), type, data };
}
