import { toCents } from '@pixmesh/kernel/money';

import type { Charge } from '../src/http/charge.ts';
import type { Dispute } from '../src/http/dispute.ts';
import type { PaymentSnapshot } from '../src/http/payout.ts';
import {
  ACCOUNT,
  CHARGE,
  COMPLETED_PAYOUT,
  DISPUTE,
  FAILED_CHARGE,
  PAID_CHARGE,
  PAYMENT,
} from '../src/openapi/resource-examples.ts';
import type { ChargeEventType, DisputeEventType } from '../src/messages/charge-event.v1.ts';
import type { PayoutEventType } from '../src/messages/payout-event.v1.ts';

const ACCOUNT_ID = ACCOUNT.id;
const APPLICATION_ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a002';
const CHARGE_ID = CHARGE.id;
const COMMAND_ID = '2c8f7b1a-6a3d-5e4b-9c10-a7d8e9f0b004';
const PAYOUT_ID = PAYMENT.id;
const HOLD_ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a008';
const DISPUTE_ID = DISPUTE.id;
const RETURN_ID = 'D12345678202611201532a1b2c3d4e5f';
const END_TO_END_ID = PAID_CHARGE.pix.end_to_end_id;
const OCCURRED_AT = '2026-11-20T15:30:00.123Z';

const RECEIVED_PIX = {
  command_id: COMMAND_ID,
  end_to_end_id: END_TO_END_ID,
  charge_id: CHARGE_ID,
  amount: toCents(12_345),
};

const BOOKED = {
  command_id: COMMAND_ID,
  journal_id: COMMAND_ID,
  balance: { available: toCents(12_345), pending: toCents(0) },
};

const HOLD = { hold_id: HOLD_ID, resource_id: PAYOUT_ID };
const HOLD_MONEY = { amount: toCents(5_000), fee: toCents(50) };
const DISPUTED = { dispute_id: DISPUTE_ID, charge_id: CHARGE_ID, amount: toCents(12_345) };
const PAYOUT_RETURN = {
  payout_id: PAYOUT_ID,
  end_to_end_id: END_TO_END_ID,
  return_id: RETURN_ID,
  amount: toCents(5_000),
};

const PIX_RETURN = {
  charge_id: CHARGE_ID,
  end_to_end_id: END_TO_END_ID,
  return_id: RETURN_ID,
  amount: toCents(2_000),
};
const SUSPENSE_ITEM = {
  item_id: COMMAND_ID,
  end_to_end_id: END_TO_END_ID,
  charge_id: null,
  amount: toCents(12_345),
};

/** One value of every message type, as the program holds it: for tests and for people. */
export const MESSAGE_SAMPLES: Readonly<Record<string, object>> = {
  'acquirer.callback': {
    ...envelope('acquirer.callback'),
    account_id: null,
    application_id: null,
    data: {
      kind: 'received',
      item: {
        endToEndId: END_TO_END_ID,
        txid: CHARGE_ID.replaceAll('-', ''),
        valor: '123.45',
        horario: OCCURRED_AT,
        pagador: { nome: 'Ana Souza', lista: [1, null, true] },
      },
    },
  },
  'charge.pix.created': chargeEvent('charge.pix.created', 1, {}),
  'charge.pix.emitted': chargeEvent('charge.pix.emitted', 2, {}),
  'charge.pix.paid': chargeEvent('charge.pix.paid', 3, PAID_CHARGE),
  'charge.pix.failed': chargeEvent('charge.pix.failed', 1, {
    ...FAILED_CHARGE,
    customer: null,
    receiver: null,
  }),
  'charge.pix.canceled': chargeEvent('charge.pix.canceled', 3, { status: 'canceled' }),
  'charge.pix.refunded': chargeEvent('charge.pix.refunded', 4, {
    ...PAID_CHARGE,
    status: 'refunded',
    refunded_amount: 12_345,
  }),
  'charge.pix.infraction': chargeEvent('charge.pix.infraction', 4, {
    ...PAID_CHARGE,
    status: 'infraction',
  }),
  'charge.pix.charged_back': chargeEvent('charge.pix.charged_back', 6, {
    ...PAID_CHARGE,
    status: 'charged_back',
  }),
  'dispute.pix.opened': disputeEvent('dispute.pix.opened', 5, {}),
  'dispute.pix.message': disputeEvent('dispute.pix.message', 6, {
    message: 'Send the proof of delivery, please.',
  }),
  'dispute.pix.won': disputeEvent('dispute.pix.won', 6, {
    status: 'won',
    resolved_at: '2026-11-24T10:00:00.000Z',
  }),
  'dispute.pix.lost': disputeEvent('dispute.pix.lost', 7, {
    status: 'lost',
    returned_amount: 12_345,
    resolved_at: '2026-11-24T10:00:00.000Z',
  }),
  'received_pix.credit': {
    ...envelope('received_pix.credit'),
    data: { ...RECEIVED_PIX, release_at: '2026-11-22T15:31:02.000Z' },
  },
  'received_pix.suspend': {
    ...envelope('received_pix.suspend'),
    data: { ...RECEIVED_PIX, charge_id: null, reason: 'unowned' },
  },
  'received_pix.return': command('received_pix.return', PIX_RETURN),
  'suspense.resolve': command('suspense.resolve', { ...SUSPENSE_ITEM, action: 'accept' }),
  'suspense.credit': command('suspense.credit', SUSPENSE_ITEM),
  'hold.settle': command('hold.settle', { ...HOLD, end_to_end_id: END_TO_END_ID }),
  'hold.release': command('hold.release', HOLD),
  'payout_return.credit': command('payout_return.credit', PAYOUT_RETURN),
  'payout.suspend': command('payout.suspend', {
    payout_id: PAYOUT_ID,
    end_to_end_id: END_TO_END_ID,
    direction: 'out',
    amount: toCents(5_000),
    reason: 'completed_after_failed',
  }),
  'acquirer_tariff.book': command('acquirer_tariff.book', {
    end_to_end_id: END_TO_END_ID,
    amount: toCents(99),
  }),
  'dispute.block': command('dispute.block', { ...DISPUTED, end_to_end_id: END_TO_END_ID }),
  'dispute.unblock': command('dispute.unblock', { ...DISPUTED, end_to_end_id: END_TO_END_ID }),
  'dispute.return': command('dispute.return', {
    ...DISPUTED,
    end_to_end_id: END_TO_END_ID,
    from: 'blocked',
    return_id: RETURN_ID,
  }),
  'received_pix.credited': outcome('received_pix.credited', RECEIVED_PIX),
  'received_pix.suspended': outcome('received_pix.suspended', RECEIVED_PIX),
  'received_pix.returned': outcome('received_pix.returned', PIX_RETURN),
  'suspense.resolved': outcome('suspense.resolved', { ...SUSPENSE_ITEM, action: 'accept' }),
  'suspense.credited': outcome('suspense.credited', SUSPENSE_ITEM),
  'hold.settled': outcome('hold.settled', { ...HOLD, ...HOLD_MONEY }),
  'hold.released': outcome('hold.released', { ...HOLD, ...HOLD_MONEY }),
  'hold.end_refused': outcome('hold.end_refused', {
    ...HOLD,
    ...HOLD_MONEY,
    wanted: 'settled',
    state: 'released',
  }),
  'payout_return.credited': outcome('payout_return.credited', PAYOUT_RETURN),
  'payout.suspended': outcome('payout.suspended', {
    payout_id: PAYOUT_ID,
    direction: 'out',
    amount: toCents(5_000),
    reason: 'completed_after_failed',
  }),
  'acquirer_tariff.booked': outcome('acquirer_tariff.booked', {
    end_to_end_id: END_TO_END_ID,
    amount: toCents(99),
  }),
  'dispute.blocked': outcome('dispute.blocked', DISPUTED),
  'dispute.unblocked': outcome('dispute.unblocked', DISPUTED),
  'dispute.returned': outcome('dispute.returned', { ...DISPUTED, return_id: RETURN_ID }),
  'payment.pix.created': payoutEvent('payment.pix.created', 1, {}),
  'payment.pix.processing': payoutEvent('payment.pix.processing', 2, {
    processed_at: COMPLETED_PAYOUT.processed_at,
  }),
  'payment.pix.completed': payoutEvent('payment.pix.completed', 3, {
    ...COMPLETED_PAYOUT,
    object: 'payment',
  }),
  'payment.pix.failed': payoutEvent('payment.pix.failed', 3, {
    status: 'failed',
    failure_reason: 'AC03: the account does not exist',
  }),
  'payment.pix.canceled': payoutEvent('payment.pix.canceled', 2, { status: 'canceled' }),
  'application.changed': {
    ...envelope('application.changed'),
    data: { application_id: APPLICATION_ID, active: false, version: 2 },
  },
  'account.limits_changed': {
    ...envelope('account.limits_changed'),
    application_id: null,
    data: { deliveries_per_second_max: 25, version: 2 },
  },
};

function envelope(type: string) {
  return {
    event_id: '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a005',
    type,
    version: 1,
    occurred_at: OCCURRED_AT,
    account_id: ACCOUNT_ID,
    application_id: APPLICATION_ID,
  };
}

function chargeEvent(type: ChargeEventType, sequence: number, changes: Partial<Charge>) {
  return {
    ...envelope(type),
    source: 'api',
    sequence,
    destination: { url: CHARGE.webhook_url, sealed_secret: 'v1.c2VhbGVk' },
    data: { ...CHARGE, ...changes },
  };
}

function disputeEvent(type: DisputeEventType, sequence: number, changes: Partial<Dispute>) {
  return {
    ...envelope(type),
    source: 'api',
    sequence,
    destination: null,
    data: { ...DISPUTE, ...changes },
  };
}

function payoutEvent(type: PayoutEventType, sequence: number, changes: Partial<PaymentSnapshot>) {
  return {
    ...envelope(type),
    source: 'api',
    sequence,
    destination: { url: PAYMENT.webhook_url, sealed_secret: null },
    data: { ...PAYMENT, ...changes },
  };
}

function command(type: string, data: object) {
  return { ...envelope(type), data: { command_id: COMMAND_ID, ...data } };
}

function outcome(type: string, data: object) {
  return { ...envelope(type), data: { ...BOOKED, ...data } };
}
