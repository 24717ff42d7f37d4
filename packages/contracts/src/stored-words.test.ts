import { expect, test } from 'vitest';

import { EVENT_CATALOGUE } from './events/event-catalogue.ts';
import { releasePendingIdOf } from './internal/ledger-command-ids.ts';
import { subjectOf } from './messages/message-type.ts';
import { MESSAGE_TYPES } from './messages/message-types.ts';
import { TOPICS } from './topics.ts';

// These names stand in topics, tables and the schema registry. A test that fails says that stored meaning has changed:
// mend the code, never the expected value.

test('topics keep their names', () => {
  expect(Object.values(TOPICS)).toEqual([
    'acquirer.callbacks.v1',
    'accounts.events.v1',
    'charges.events.v1',
    'payouts.events.v1',
    'ledger.commands.v1',
    'ledger.events.v1',
  ]);
});

test('messages keep type, topic and subject', () => {
  expect(
    MESSAGE_TYPES.map((message) => `${message.type} on ${message.topic} as ${subjectOf(message)}`),
  ).toEqual([
    'acquirer.callback on acquirer.callbacks.v1 as acquirer.callbacks.v1-acquirer.callback',
    'application.changed on accounts.events.v1 as accounts.events.v1-application.changed',
    'account.limits_changed on accounts.events.v1 as accounts.events.v1-account.limits_changed',
    'charge.pix.created on charges.events.v1 as charges.events.v1-charge.pix.created',
    'charge.pix.emitted on charges.events.v1 as charges.events.v1-charge.pix.emitted',
    'charge.pix.paid on charges.events.v1 as charges.events.v1-charge.pix.paid',
    'charge.pix.failed on charges.events.v1 as charges.events.v1-charge.pix.failed',
    'charge.pix.canceled on charges.events.v1 as charges.events.v1-charge.pix.canceled',
    'charge.pix.refunded on charges.events.v1 as charges.events.v1-charge.pix.refunded',
    'charge.pix.infraction on charges.events.v1 as charges.events.v1-charge.pix.infraction',
    'charge.pix.charged_back on charges.events.v1 as charges.events.v1-charge.pix.charged_back',
    'dispute.pix.opened on charges.events.v1 as charges.events.v1-dispute.pix.opened',
    'dispute.pix.message on charges.events.v1 as charges.events.v1-dispute.pix.message',
    'dispute.pix.won on charges.events.v1 as charges.events.v1-dispute.pix.won',
    'dispute.pix.lost on charges.events.v1 as charges.events.v1-dispute.pix.lost',
    'payment.pix.created on payouts.events.v1 as payouts.events.v1-payment.pix.created',
    'payment.pix.processing on payouts.events.v1 as payouts.events.v1-payment.pix.processing',
    'payment.pix.completed on payouts.events.v1 as payouts.events.v1-payment.pix.completed',
    'payment.pix.failed on payouts.events.v1 as payouts.events.v1-payment.pix.failed',
    'payment.pix.canceled on payouts.events.v1 as payouts.events.v1-payment.pix.canceled',
    'received_pix.credit on ledger.commands.v1 as ledger.commands.v1-received_pix.credit',
    'received_pix.suspend on ledger.commands.v1 as ledger.commands.v1-received_pix.suspend',
    'received_pix.return on ledger.commands.v1 as ledger.commands.v1-received_pix.return',
    'suspense.resolve on ledger.commands.v1 as ledger.commands.v1-suspense.resolve',
    'suspense.credit on ledger.commands.v1 as ledger.commands.v1-suspense.credit',
    'hold.settle on ledger.commands.v1 as ledger.commands.v1-hold.settle',
    'hold.release on ledger.commands.v1 as ledger.commands.v1-hold.release',
    'acquirer_tariff.book on ledger.commands.v1 as ledger.commands.v1-acquirer_tariff.book',
    'dispute.block on ledger.commands.v1 as ledger.commands.v1-dispute.block',
    'dispute.unblock on ledger.commands.v1 as ledger.commands.v1-dispute.unblock',
    'dispute.return on ledger.commands.v1 as ledger.commands.v1-dispute.return',
    'payout_return.credit on ledger.commands.v1 as ledger.commands.v1-payout_return.credit',
    'payout.suspend on ledger.commands.v1 as ledger.commands.v1-payout.suspend',
    'received_pix.credited on ledger.events.v1 as ledger.events.v1-received_pix.credited',
    'received_pix.suspended on ledger.events.v1 as ledger.events.v1-received_pix.suspended',
    'received_pix.returned on ledger.events.v1 as ledger.events.v1-received_pix.returned',
    'suspense.resolved on ledger.events.v1 as ledger.events.v1-suspense.resolved',
    'suspense.credited on ledger.events.v1 as ledger.events.v1-suspense.credited',
    'hold.settled on ledger.events.v1 as ledger.events.v1-hold.settled',
    'hold.released on ledger.events.v1 as ledger.events.v1-hold.released',
    'hold.end_refused on ledger.events.v1 as ledger.events.v1-hold.end_refused',
    'payout_return.credited on ledger.events.v1 as ledger.events.v1-payout_return.credited',
    'payout.suspended on ledger.events.v1 as ledger.events.v1-payout.suspended',
    'acquirer_tariff.booked on ledger.events.v1 as ledger.events.v1-acquirer_tariff.booked',
    'dispute.blocked on ledger.events.v1 as ledger.events.v1-dispute.blocked',
    'dispute.unblocked on ledger.events.v1 as ledger.events.v1-dispute.unblocked',
    'dispute.returned on ledger.events.v1 as ledger.events.v1-dispute.returned',
  ]);
});

test('events of merchants keep their names', () => {
  expect(EVENT_CATALOGUE.map(({ event }) => event)).toEqual([
    'charge.pix.created',
    'charge.pix.emitted',
    'charge.pix.paid',
    'charge.pix.expired',
    'charge.pix.failed',
    'charge.pix.canceled',
    'charge.pix.refunded',
    'charge.pix.infraction',
    'charge.pix.charged_back',
    'charge.boleto.created',
    'charge.boleto.emitted',
    'charge.boleto.paid',
    'charge.boleto.expired',
    'charge.boleto.failed',
    'charge.boleto.canceled',
    'charge.boleto.refunded',
    'charge.card.created',
    'charge.card.authorized',
    'charge.card.paid',
    'charge.card.failed',
    'charge.card.canceled',
    'charge.card.refunded',
    'charge.card.charged_back',
    'payment.pix.created',
    'payment.pix.processing',
    'payment.pix.completed',
    'payment.pix.failed',
    'payment.pix.canceled',
    'payment.ted.created',
    'payment.ted.processing',
    'payment.ted.completed',
    'payment.ted.failed',
    'payment.ted.canceled',
    'dispute.pix.opened',
    'dispute.pix.message',
    'dispute.pix.won',
    'dispute.pix.lost',
  ]);
});

test('the command that releases a pending credit keeps its id', () => {
  expect(releasePendingIdOf('2c8f7b1a-6a3d-5e4b-9c10-a7d8e9f0b004')).toEqual(
    'e0b545c6-966e-511e-b58e-2923f8c80bc5',
  );
});
