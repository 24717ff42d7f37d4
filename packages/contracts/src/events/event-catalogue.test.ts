import { expect, test } from 'vitest';

import { EVENT_CATALOGUE, isDispatched, splitEventName } from './event-catalogue.ts';

/** The specification's catalogue, in its order. */
const NAMES = `
charge.pix.created charge.pix.emitted charge.pix.paid charge.pix.expired charge.pix.failed
charge.pix.canceled charge.pix.refunded charge.pix.infraction charge.pix.charged_back
charge.boleto.created charge.boleto.emitted charge.boleto.paid charge.boleto.expired
charge.boleto.failed charge.boleto.canceled charge.boleto.refunded
charge.card.created charge.card.authorized charge.card.paid charge.card.failed
charge.card.canceled charge.card.refunded charge.card.charged_back
payment.pix.created payment.pix.processing payment.pix.completed payment.pix.failed payment.pix.canceled
payment.ted.created payment.ted.processing payment.ted.completed payment.ted.failed payment.ted.canceled
dispute.pix.opened dispute.pix.message dispute.pix.won dispute.pix.lost
`
  .trim()
  .split(/\s+/);

const NOT_DISPATCHED = [
  'charge.pix.expired',
  'charge.boleto.expired',
  'charge.card.authorized',
  'payment.pix.completed',
  'payment.ted.completed',
];

test('the catalogue holds the 37 events of the specification, in its order', () => {
  expect(EVENT_CATALOGUE.map(({ event }) => event)).toEqual(NAMES);
  expect(NAMES).toHaveLength(37);
});

test('exactly five events are known and not delivered', () => {
  const notDispatched = EVENT_CATALOGUE.filter(({ dispatched }) => !dispatched);
  expect(notDispatched.map(({ event }) => event)).toEqual(NOT_DISPATCHED);
  for (const { event, dispatched } of EVENT_CATALOGUE) expect(isDispatched(event)).toBe(dispatched);
});

test('every event has a meaning and a name of three parts', () => {
  for (const { event, description } of EVENT_CATALOGUE) {
    expect(description).not.toBe('');
    expect(event).toMatch(/^(charge|payment|dispute)\.(pix|boleto|card|ted)\.[a-z_]+$/);
  }
  expect(splitEventName('charge.pix.charged_back')).toEqual({
    resource: 'charge',
    method: 'pix',
    action: 'charged_back',
  });
});
