import type { Charge } from '@pixmesh/contracts/http/charge';
import type { ChargeEvent } from '@pixmesh/contracts/messages/charge-event.v1';
import { newId } from '@pixmesh/kernel/ids';
import { sealSecret } from '@pixmesh/kernel/sealed-secret';

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
    webhook_url: 'http://shop.receiver.example.com/hook',
    expires_at: '2026-11-22T12:00:00.000Z',
    paid_at: null,
    failure_reason: null,
    created_at: '2026-11-21T12:00:00.000Z',
    ...changes,
  };
}

type EventChanges = Partial<Omit<ChargeEvent, 'data' | 'destination'>> & {
  charge?: Partial<Charge>;
  url?: string | null;
  /** Sealed to this public key, as charges does it. */
  secret?: { clear: string; publicKey: string };
};

/** A message of `charges.events.v1`; the URL defaults to the development receiver. */
export function aChargeEvent(changes: EventChanges = {}): ChargeEvent {
  const { charge: chargeChanges, url: urlChange, secret, ...envelope } = changes;
  const url = urlChange === undefined ? 'http://shop.receiver.example.com/hook' : urlChange;
  const charge = aCharge({ webhook_url: url, ...chargeChanges });
  const accountId = changes.account_id ?? newId();
  const sealedSecret =
    secret === undefined
      ? null
      : sealSecret(secret.publicKey, secret.clear, `${accountId}/${charge.id}`);
  return {
    event_id: newId(),
    type: 'charge.pix.created',
    version: 1,
    occurred_at: new Date().toISOString(),
    application_id: newId(),
    source: 'api',
    sequence: 1,
    ...envelope,
    account_id: accountId,
    destination: url === null ? null : { url, sealed_secret: sealedSecret },
    data: charge,
  };
}
