import { describe, expect, test } from 'vitest';

import { verifyLife, type LifeRecords } from './lives/verify-life.ts';

/** The check of the random lives is tested by planting each contradiction that it exists for. */
const AMOUNT = 1_000;
const CHARGE = {
  id: 'c1',
  status: 'paid',
  amount: AMOUNT,
  refunded_amount: 0,
  pix: { end_to_end_id: 'E1' },
};
const PAID = { kind: 'paid', end_to_end_id: 'E1', amount: AMOUNT };
const AGAIN = { kind: 'paid', end_to_end_id: 'E2', amount: AMOUNT };
const ITEM = { end_to_end_id: 'E2', amount: AMOUNT };
const DISPUTE = { id: 'd1', status: 'open', arrived_resolved: false, returned_amount: 0 };
const REFUNDED = { ...CHARGE, status: 'refunded', refunded_amount: AMOUNT };
const LOST = { ...DISPUTE, status: 'lost', returned_amount: 600 };
const TAKEN = { kind: 'returned', end_to_end_id: 'E1', amount: 600, natureza: 'MED_FRAUDE' };

function aReturn(amount: number): object {
  return { kind: 'returned', end_to_end_id: 'E1', amount, natureza: 'ORIGINAL' };
}

/** Deliveries of events, each under an id of its own: `charge.pix.paid` of the charge, or `… d1` of something else. */
function delivered(...events: string[]): LifeRecords['events'] {
  return events.map((text, index) => {
    const [event = '', id = CHARGE.id] = text.split(' ');
    return { event, deliveryId: `delivery-${index}`, data: { id } };
  });
}

/** A charge that was paid once. */
function aLife(changes: Partial<LifeRecords> = {}): LifeRecords {
  return {
    charge: CHARGE,
    journal: [PAID],
    disputes: [],
    suspense: [],
    events: delivered('charge.pix.created', 'charge.pix.paid'),
    ...changes,
  };
}

/** A charge that was paid, disputed in part and lost. */
function aLostLife(changes: Partial<LifeRecords> = {}): LifeRecords {
  return {
    charge: { ...CHARGE, status: 'charged_back' },
    journal: [PAID, { kind: 'dispute_opened' }, TAKEN, { kind: 'dispute_decided' }],
    disputes: [LOST],
    suspense: [],
    events: delivered(
      'charge.pix.created',
      'charge.pix.paid',
      'charge.pix.charged_back',
      'dispute.pix.opened d1',
      'dispute.pix.lost d1',
    ),
    ...changes,
  };
}

const NEVER_PAID = {
  charge: { ...CHARGE, status: 'pending', pix: { end_to_end_id: null } },
  journal: [],
  events: delivered('charge.pix.created'),
};
const CANCELED = {
  charge: { ...NEVER_PAID.charge, status: 'canceled' },
  journal: [AGAIN],
  suspense: [ITEM],
  events: delivered('charge.pix.created', 'charge.pix.canceled'),
};
const OPEN = {
  charge: { ...CHARGE, status: 'infraction' },
  disputes: [DISPUTE],
  events: delivered(
    'charge.pix.created',
    'charge.pix.paid',
    'charge.pix.infraction',
    'dispute.pix.opened d1',
  ),
};
const TWICE_RETURNED = {
  charge: REFUNDED,
  journal: [PAID, aReturn(300), aReturn(700)],
  events: delivered('charge.pix.created', 'charge.pix.paid', 'charge.pix.refunded'),
};
const WON = {
  disputes: [{ ...DISPUTE, status: 'won' }],
  events: delivered(
    'charge.pix.created',
    'charge.pix.paid',
    'dispute.pix.opened d1',
    'dispute.pix.won d1',
  ),
};

const DISPUTED_AGAIN = {
  charge: OPEN.charge,
  disputes: [...WON.disputes, { ...DISPUTE, id: 'd2' }],
  events: [
    ...OPEN.events,
    ...delivered('dispute.pix.won d1', 'dispute.pix.opened d2'),
    { event: 'charge.pix.infraction', deliveryId: 'of-d2', data: { id: CHARGE.id } },
  ],
};

describe('a life of which all records agree has no violation', () => {
  test.each<[string, LifeRecords]>([
    ['paid', aLife()],
    [
      'paid, and announced twice under one id',
      aLife({ events: [...aLife().events, ...aLife().events] }),
    ],
    ['never paid', aLife(NEVER_PAID)],
    [
      'failed, and not announced',
      aLife({ ...NEVER_PAID, charge: { ...NEVER_PAID.charge, status: 'failed' }, events: [] }),
    ],
    ['canceled, and paid all the same', aLife(CANCELED)],
    ['paid twice', aLife({ journal: [PAID, AGAIN], suspense: [ITEM] })],
    [
      'refunded in part',
      aLife({ charge: { ...CHARGE, refunded_amount: 1 }, journal: [PAID, aReturn(1)] }),
    ],
    ['refunded in two parts', aLife(TWICE_RETURNED)],
    ['disputed', aLife(OPEN)],
    ['disputed and won', aLife(WON)],
    ['disputed and won, and disputed again', aLife(DISPUTED_AGAIN)],
    ['disputed and lost', aLostLife()],
    [
      'returned by a MED without a dispute',
      aLostLife({ disputes: [], events: aLostLife().events.slice(0, 3) }),
    ],
  ])('%s', (_what, life) => {
    expect(verifyLife(life)).toEqual([]);
  });
});

const without = (life: LifeRecords, event: string) => ({
  ...life,
  events: life.events.filter((one) => one.event !== event),
});
const also = (life: LifeRecords, ...events: string[]) => ({
  ...life,
  events: [
    ...life.events,
    ...delivered(...events).map((one) => ({ ...one, deliveryId: `more-${one.deliveryId}` })),
  ],
});

/** What is found, word for word: one line, and no other. */
const PLANTED: [string, LifeRecords, string | string[]][] = [
  ['a payment missing in the acquirer’s journal', aLife({ journal: [] }), 'I6 paid by '],
  ['a payment twice in it', aLife({ journal: [PAID, PAID] }), 'I6 paid by 1000, 1000'],
  ['a cent less than the charge', aLife({ journal: [{ ...PAID, amount: 999 }] }), 'I6 paid by 999'],
  [
    'another Pix than the one that paid',
    aLife({ journal: [AGAIN], suspense: [ITEM] }),
    'I6 paid by ',
  ],
  [
    'a paid charge without a Pix',
    aLife({ charge: { ...CHARGE, pix: { end_to_end_id: null } }, journal: [] }),
    'I6 paid with Pix null',
  ],
  [
    'a Pix of a charge that is not paid',
    aLife({ charge: { ...CHARGE, status: 'pending' }, events: delivered('charge.pix.created') }),
    ['I6 pending with Pix E1', 'I9 pending, not paid'],
  ],
  [
    'the Pix that paid, in suspense as well',
    aLife({ suspense: [{ ...ITEM, end_to_end_id: 'E1' }] }),
    'I6 E1 is credited and in suspense',
  ],
  [
    'a second payment without an item of suspense',
    aLife({ journal: [PAID, AGAIN] }),
    'I6 E2 has 0 items of suspense',
  ],
  [
    'a second payment with two items of suspense',
    aLife({ journal: [PAID, AGAIN], suspense: [ITEM, ITEM] }),
    'I6 E2 has 2 items of suspense',
  ],
  [
    'a cent more in suspense than arrived',
    aLife({ journal: [PAID, AGAIN], suspense: [{ ...ITEM, amount: 1_001 }] }),
    'I6 E2 has 1 items of suspense',
  ],
  [
    'a refund of a cent less than was returned',
    aLife({ charge: { ...CHARGE, refunded_amount: 299 }, journal: [PAID, aReturn(300)] }),
    'I6 refunded 299, returned 300',
  ],
  [
    'a refund that the acquirer never made',
    aLife({ charge: { ...CHARGE, refunded_amount: 300 } }),
    'I6 refunded 300, returned 0',
  ],
  [
    'a MED return that no dispute counts',
    aLostLife({ disputes: [{ ...LOST, returned_amount: 0 }] }),
    'I6 disputes returned 0, the MED 600',
  ],
  [
    'a charge that stays paid after all went back',
    { ...aLife(TWICE_RETURNED), charge: { ...REFUNDED, status: 'paid' }, events: aLife().events },
    'I9 paid, not refunded',
  ],
  [
    'a charge that stays paid under a dispute',
    { ...aLife(OPEN), charge: CHARGE },
    'I9 paid, not infraction',
  ],
  [
    'a charge that stays disputed after it was won',
    { ...also(aLife(WON), 'charge.pix.infraction'), charge: OPEN.charge },
    'I9 infraction, not paid',
  ],
  [
    'a charge that is paid again after a lost dispute',
    { ...without(aLostLife(), 'charge.pix.charged_back'), charge: CHARGE },
    'I9 paid, not charged_back',
  ],
  [
    'an event that never came',
    without(aLife(), 'charge.pix.paid'),
    'I10 charge.pix.paid of c1 was not delivered',
  ],
  [
    'no event of the creation',
    without(aLife(NEVER_PAID), 'charge.pix.created'),
    'I10 charge.pix.created of c1 was not delivered',
  ],
  [
    'no event of a cancellation',
    without(aLife(CANCELED), 'charge.pix.canceled'),
    'I10 charge.pix.canceled of c1 was not delivered',
  ],
  [
    'no event of a refund',
    without(aLife(TWICE_RETURNED), 'charge.pix.refunded'),
    'I10 charge.pix.refunded of c1 was not delivered',
  ],
  [
    'no event of a chargeback',
    without(aLostLife(), 'charge.pix.charged_back'),
    'I10 charge.pix.charged_back of c1 was not delivered',
  ],
  [
    'no event of a dispute',
    without(aLife(OPEN), 'dispute.pix.opened'),
    'I10 dispute.pix.opened of d1 was not delivered',
  ],
  [
    'no event of its loss',
    without(aLostLife(), 'dispute.pix.lost'),
    'I10 dispute.pix.lost of d1 was not delivered',
  ],
  [
    'no event of its winning',
    without(aLife(WON), 'dispute.pix.won'),
    'I10 dispute.pix.won of d1 was not delivered',
  ],
  [
    'a payment announced of a charge that was never paid',
    also(aLife(NEVER_PAID), 'charge.pix.paid'),
    'I10 charge.pix.paid of c1 was delivered',
  ],
  [
    'a cancellation announced of a paid charge',
    also(aLife(), 'charge.pix.canceled'),
    'I10 charge.pix.canceled of c1 was delivered',
  ],
  [
    'a full refund announced after a part of it',
    also(
      aLife({ charge: { ...CHARGE, refunded_amount: 300 }, journal: [PAID, aReturn(300)] }),
      'charge.pix.refunded',
    ),
    'I10 charge.pix.refunded of c1 was delivered',
  ],
  [
    'an opening announced of a dispute that arrived decided',
    aLostLife({ disputes: [{ ...LOST, arrived_resolved: true }] }),
    'I10 dispute.pix.opened of d1 was delivered',
  ],
  [
    'a loss announced of an open dispute',
    also(aLife(OPEN), 'dispute.pix.lost d1'),
    'I10 dispute.pix.lost of d1 was delivered',
  ],
  [
    'one infraction under two ids',
    also(aLife(OPEN), 'charge.pix.infraction'),
    'I11 charge.pix.infraction c1 under several ids',
  ],
  [
    'no event of an infraction',
    without(aLife(OPEN), 'charge.pix.infraction'),
    'I10 charge.pix.infraction of c1 was not delivered',
  ],
  [
    'one event under two ids',
    also(aLife(), 'charge.pix.paid'),
    'I11 charge.pix.paid c1 under several ids',
  ],
];

test.each(PLANTED)('finds %s', (_what, life, lines) => {
  expect(verifyLife(life)).toEqual([lines].flat().map((line) => `c1: ${line}`));
});
