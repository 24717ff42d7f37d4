import type { Charge } from '@pixmesh/contracts/http/charge';
import type { ChargeEvent, ChargeEventType } from '@pixmesh/contracts/messages/charge-event.v1';
import { newId } from '@pixmesh/kernel/ids';

import { aResourceEnvelope, type EnvelopeChanges, HOOK_URL } from './a-resource-envelope.ts';

/** A charge in the shape of its GET. */
export function aCharge(changes: Partial<Charge> = {}): Charge {
  return {
    id: newId(),
    object: 'charge',
    status: 'pending',
    amount: 1_990,
    currency: 'BRL',
    method: 'pix',
    description: null,
    reference: 'order-1',
    customer: null,
    pix: { br_code: '00020126', end_to_end_id: null },
    receiver: null,
    refunded_amount: 0,
    webhook_url: HOOK_URL,
    expires_at: '2026-11-22T12:00:00.000Z',
    paid_at: null,
    failure_reason: null,
    created_at: '2026-11-21T12:00:00.000Z',
    ...changes,
  };
}

type EventChanges = EnvelopeChanges & { type?: ChargeEventType; charge?: Partial<Charge> };

/** A message of `charges.events.v1`; the URL defaults to the development receiver. */
export function aChargeEvent(changes: EventChanges = {}): ChargeEvent {
  const { type = 'charge.pix.created', charge, ...envelope } = changes;
  const url = envelope.url === undefined ? HOOK_URL : envelope.url;
  const data = aCharge({ webhook_url: url, ...charge });
  return { ...aResourceEnvelope(data.id, envelope), type, data };
}
