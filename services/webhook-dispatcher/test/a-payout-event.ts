import type { PaymentSnapshot } from '@pixmesh/contracts/http/payout';
import type { PayoutEvent, PayoutEventType } from '@pixmesh/contracts/messages/payout-event.v1';
import { newId } from '@pixmesh/kernel/ids';

import { aResourceEnvelope, type EnvelopeChanges, HOOK_URL } from './a-resource-envelope.ts';

type EventChanges = EnvelopeChanges & {
  type?: PayoutEventType;
  payout?: Partial<PaymentSnapshot>;
};

/** A message of `payouts.events.v1`; the URL defaults to the development receiver. */
export function aPayoutEvent(changes: EventChanges = {}): PayoutEvent {
  const { type = 'payment.pix.created', payout, ...envelope } = changes;
  const url = envelope.url === undefined ? HOOK_URL : envelope.url;
  const data = aPayment({ webhook_url: url, ...payout });
  return { ...aResourceEnvelope(data.id, envelope), type, data };
}

/** A payout in the shape of its GET, named `payment` (decision 181). */
function aPayment(changes: Partial<PaymentSnapshot>): PaymentSnapshot {
  return {
    id: newId(),
    object: 'payment',
    status: 'processing',
    method: 'pix',
    amount: 1_990,
    fee: 100,
    currency: 'BRL',
    description: null,
    reference: 'order-1',
    recipient: {
      name: null,
      document: null,
      pix_key_type: 'email',
      pix_key: 'someone@example.com',
    },
    end_to_end_id: null,
    failure_reason: null,
    webhook_url: HOOK_URL,
    processed_at: null,
    created_at: '2026-11-21T12:00:00.000Z',
    ...changes,
  };
}
