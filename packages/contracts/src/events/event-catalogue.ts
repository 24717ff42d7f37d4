/** What each event of the platform means, in the order of the specification's catalogue. */
const MEANINGS = {
  'charge.pix.created': 'Pix charge registered',
  'charge.pix.emitted': 'QR code and copy-and-paste available',
  'charge.pix.paid': 'Pix settled',
  'charge.pix.expired': 'QR code expired unpaid',
  'charge.pix.failed': 'settlement attempted and refused',
  'charge.pix.canceled': 'canceled before payment',
  'charge.pix.refunded': 'amount returned to payer',
  'charge.pix.infraction': 'MED infraction opened; outcome open',
  'charge.pix.charged_back': 'return ordered by the MED',
  'charge.boleto.created': 'boleto charge registered',
  'charge.boleto.emitted': 'boleto issued',
  'charge.boleto.paid': 'boleto cleared',
  'charge.boleto.expired': 'boleto expired',
  'charge.boleto.failed': 'bank refused registration or clearing',
  'charge.boleto.canceled': 'boleto withdrawn before payment',
  'charge.boleto.refunded': 'amount returned',
  'charge.card.created': 'card charge registered',
  'charge.card.authorized': 'issuer authorized, not captured',
  'charge.card.paid': 'amount captured',
  'charge.card.failed': 'purchase refused',
  'charge.card.canceled': 'authorization canceled before capture',
  'charge.card.refunded': 'refund granted',
  'charge.card.charged_back': 'purchase contested by cardholder',
  'payment.pix.created': 'Pix payout requested and queued',
  'payment.pix.processing': 'sent to provider',
  'payment.pix.completed': 'money credited',
  'payment.pix.failed': 'refused; amount returns to available balance',
  'payment.pix.canceled': 'canceled before processing',
  'payment.ted.created': 'TED payout requested and queued',
  'payment.ted.processing': 'sent to bank',
  'payment.ted.completed': 'money credited',
  'payment.ted.failed': 'refused; amount returns to available balance',
  'payment.ted.canceled': 'canceled before processing',
  'dispute.pix.opened': 'dispute opened; amount blocked awaiting defense',
  'dispute.pix.message': 'platform answered in the dispute chat; text in `data.message`',
  'dispute.pix.won': 'MED denied; blocked amount returned to balance',
  'dispute.pix.lost': 'MED accepted; amount returned to payer',
} as const;

export type EventName = keyof typeof MEANINGS;

/** They exist and can be subscribed to, but make no deliveries: this list alone controls it (decision 122). */
const NOT_DISPATCHED: ReadonlySet<EventName> = new Set<EventName>([
  'charge.pix.expired',
  'charge.boleto.expired',
  'charge.card.authorized',
  'payment.pix.completed',
  'payment.ted.completed',
]);

export const EVENT_NAMES = Object.keys(MEANINGS) as readonly EventName[];

/** Every event the platform knows, as the catalogue lists it. */
export const EVENT_CATALOGUE = EVENT_NAMES.map((event) => ({
  event,
  ...splitEventName(event),
  description: MEANINGS[event],
  dispatched: isDispatched(event),
}));

export type EventNameParts = { resource: string; method: string; action: string };

/** Whether the platform delivers this event now. */
export function isDispatched(name: EventName): boolean {
  return !NOT_DISPATCHED.has(name);
}

export function isEventName(name: string): name is EventName {
  return Object.hasOwn(MEANINGS, name);
}

/** Splits `<resource>.<method>.<action>`. */
export function splitEventName(name: EventName): EventNameParts {
  const [resource = '', method = '', action = ''] = name.split('.');
  return { resource, method, action };
}
