import { CHARGE_EVENTS, type ChargeEvent } from '@pixmesh/contracts/messages/charge-event.v1';
import type { EventToPublish } from '@pixmesh/kafka/outgoing-message';
import { newId } from '@pixmesh/kernel/ids';

import { EVENT_TYPE, type MerchantEndpoint } from './merchant-endpoints.ts';

const { topic } = CHARGE_EVENTS[EVENT_TYPE];
/** So long that the delivered body has about a kilobyte. */
const DESCRIPTION = 'Pedido de teste de carga '.repeat(13);
const DAY_MS = 86_400_000;

/** A paid charge of the endpoint's application, marked with `reference`; every event is a charge of its own. */
export function aChargeEvent(endpoint: MerchantEndpoint, reference: string): EventToPublish {
  const eventId = newId();
  const chargeId = newId();
  const occurredAt = new Date();
  const message = {
    event_id: eventId,
    type: EVENT_TYPE,
    version: 1,
    occurred_at: occurredAt.toISOString(),
    account_id: endpoint.accountId,
    application_id: endpoint.applicationId,
    source: 'api',
    sequence: 1,
    destination: null,
    data: aPaidCharge(chargeId, reference, occurredAt),
  } satisfies ChargeEvent;
  return { eventId, topic, key: chargeId, type: EVENT_TYPE, traceparent: null, message };
}

function aPaidCharge(id: string, reference: string, paidAt: Date): ChargeEvent['data'] {
  return {
    id,
    object: 'charge',
    status: 'paid',
    amount: 1_990,
    currency: 'BRL',
    method: 'pix',
    description: DESCRIPTION,
    reference,
    customer: null,
    pix: { br_code: '00020126580014br.gov.bcb.pix', end_to_end_id: `E00000000${id.slice(-23)}` },
    receiver: null,
    refunded_amount: 0,
    webhook_url: null,
    expires_at: new Date(paidAt.getTime() + DAY_MS).toISOString(),
    paid_at: paidAt.toISOString(),
    failure_reason: null,
    created_at: new Date(paidAt.getTime() - DAY_MS).toISOString(),
  };
}
