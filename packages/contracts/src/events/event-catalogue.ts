/**
 * Every event the platform knows, in the order of the specification's catalogue. `dispatched: false` exists
 * and can be subscribed to, but makes no deliveries: this one flag controls it (decision 122).
 */
export const EVENT_CATALOGUE = [
  { event: 'charge.pix.created', dispatched: true, description: 'Pix charge registered' },
  {
    event: 'charge.pix.emitted',
    dispatched: true,
    description: 'QR code and copy-and-paste available',
  },
  { event: 'charge.pix.paid', dispatched: true, description: 'Pix settled' },
  { event: 'charge.pix.expired', dispatched: false, description: 'QR code expired unpaid' },
  { event: 'charge.pix.failed', dispatched: true, description: 'settlement attempted and refused' },
  { event: 'charge.pix.canceled', dispatched: true, description: 'canceled before payment' },
  { event: 'charge.pix.refunded', dispatched: true, description: 'amount returned to payer' },
  {
    event: 'charge.pix.infraction',
    dispatched: true,
    description: 'MED infraction opened; outcome open',
  },
  { event: 'charge.pix.charged_back', dispatched: true, description: 'return ordered by the MED' },
  { event: 'charge.boleto.created', dispatched: true, description: 'boleto charge registered' },
  { event: 'charge.boleto.emitted', dispatched: true, description: 'boleto issued' },
  { event: 'charge.boleto.paid', dispatched: true, description: 'boleto cleared' },
  { event: 'charge.boleto.expired', dispatched: false, description: 'boleto expired' },
  {
    event: 'charge.boleto.failed',
    dispatched: true,
    description: 'bank refused registration or clearing',
  },
  {
    event: 'charge.boleto.canceled',
    dispatched: true,
    description: 'boleto withdrawn before payment',
  },
  { event: 'charge.boleto.refunded', dispatched: true, description: 'amount returned' },
  { event: 'charge.card.created', dispatched: true, description: 'card charge registered' },
  {
    event: 'charge.card.authorized',
    dispatched: false,
    description: 'issuer authorized, not captured',
  },
  { event: 'charge.card.paid', dispatched: true, description: 'amount captured' },
  { event: 'charge.card.failed', dispatched: true, description: 'purchase refused' },
  {
    event: 'charge.card.canceled',
    dispatched: true,
    description: 'authorization canceled before capture',
  },
  { event: 'charge.card.refunded', dispatched: true, description: 'refund granted' },
  {
    event: 'charge.card.charged_back',
    dispatched: true,
    description: 'purchase contested by cardholder',
  },
  {
    event: 'payment.pix.created',
    dispatched: true,
    description: 'Pix payout requested and queued',
  },
  { event: 'payment.pix.processing', dispatched: true, description: 'sent to provider' },
  { event: 'payment.pix.completed', dispatched: false, description: 'money credited' },
  {
    event: 'payment.pix.failed',
    dispatched: true,
    description: 'refused; amount returns to available balance',
  },
  { event: 'payment.pix.canceled', dispatched: true, description: 'canceled before processing' },
  {
    event: 'payment.ted.created',
    dispatched: true,
    description: 'TED payout requested and queued',
  },
  { event: 'payment.ted.processing', dispatched: true, description: 'sent to bank' },
  { event: 'payment.ted.completed', dispatched: false, description: 'money credited' },
  {
    event: 'payment.ted.failed',
    dispatched: true,
    description: 'refused; amount returns to available balance',
  },
  { event: 'payment.ted.canceled', dispatched: true, description: 'canceled before processing' },
  {
    event: 'dispute.pix.opened',
    dispatched: true,
    description: 'dispute opened; amount blocked awaiting defense',
  },
  {
    event: 'dispute.pix.message',
    dispatched: true,
    description: 'platform answered in the dispute chat; text in `data.message`',
  },
  {
    event: 'dispute.pix.won',
    dispatched: true,
    description: 'MED denied; blocked amount returned to balance',
  },
  {
    event: 'dispute.pix.lost',
    dispatched: true,
    description: 'MED accepted; amount returned to payer',
  },
] as const;

export type EventName = (typeof EVENT_CATALOGUE)[number]['event'];

export type EventNameParts = { resource: string; method: string; action: string };

/** Whether the platform delivers this event now. */
export function isDispatched(name: EventName): boolean {
  return EVENT_CATALOGUE.some((entry) => entry.event === name && entry.dispatched);
}

export function isEventName(name: string): name is EventName {
  return EVENT_CATALOGUE.some(({ event }) => event === name);
}

/** Splits `<resource>.<method>.<action>`. */
export function splitEventName(name: EventName): EventNameParts {
  const [resource = '', method = '', action = ''] = name.split('.');
  return { resource, method, action };
}
