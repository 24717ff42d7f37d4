import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { toCents } from '@pixmesh/kernel/money';
import { describe, expect, test } from 'vitest';

import type { ChargeRow } from '#charge/charge-row.ts';
import type { Disposition } from '#received/decide-received.ts';
import { returnKey } from '#returns/return-key.ts';
import { aChargeRow } from '#test/a-charge-row.ts';
import { aPixReturn, aReceivedPix } from '#test/a-received-pix.ts';
import { describeCheck } from '#test/describe-check.ts';

import { type CheckPlan, decideCheck, type ProviderState, type Recorded } from './decide-check.ts';

const OWN = 'E-own';
const STRAY = 'E-stray';
const [FULL, PART] = [toCents(12_345), toCents(345)];

type Given = { charge: Partial<ChargeRow>; received: [string, Disposition['kind']][] };

const paid = { acceptedE2e: OWN, endToEndId: OWN } as const;
const credited: Given['received'] = [[OWN, 'credit']];

/** Every state that a charge may be in when it is checked. */
const GIVEN = {
  processing: { charge: { status: 'processing' }, received: [] },
  pending: { charge: { status: 'pending' }, received: [] },
  'being paid': { charge: { status: 'pending', acceptedE2e: OWN }, received: credited },
  paid: { charge: { status: 'paid', ...paid }, received: credited },
  infraction: { charge: { status: 'infraction', ...paid }, received: credited },
  canceled: { charge: { status: 'canceled' }, received: [] },
  failed: { charge: { status: 'failed', failureReason: 'x' }, received: [] },
  refunded: {
    charge: { status: 'refunded', ...paid, refundedAmount: FULL },
    received: credited,
  },
  'charged back': { charge: { status: 'charged_back', ...paid }, received: credited },
} as const satisfies Record<string, Given>;
type GivenName = keyof typeof GIVEN;

type AtAcquirer = (own: readonly ReceivedPix[]) => {
  state: Partial<ProviderState>;
  recorded?: Partial<Recorded>;
};

const stray = (changes: Partial<ReceivedPix> = {}) =>
  aReceivedPix({ endToEndId: STRAY, paidAt: new Date('2026-11-21T12:31:00.000Z'), ...changes });

function ownWith(
  own: readonly ReceivedPix[],
  ...returns: ReceivedPix['returns']
): ProviderState['received'] {
  return own.map((pix) => ({ ...pix, returns }));
}

/** All that the acquirer can show. `own` is the Pix that pays the charge, where there is one. */
const WHEN = {
  'nothing new': (own) => ({ state: { received: [...own] } }),
  'it is active': (own) => ({ state: { status: 'active', received: [...own] } }),
  'the exact amount': (own) => ({ state: { received: [...own, stray()] } }),
  'a wrong amount': (own) => ({ state: { received: [...own, stray({ amountCents: PART })] } }),
  'removed by the acquirer': (own) => ({ state: { status: 'removed_by_psp', received: [...own] } }),
  'removed in our name': (own) => ({
    state: { status: 'removed_by_receiver', received: [...own] },
  }),
  'a part returned': (own) => ({
    state: { received: ownWith(own, aPixReturn({ amountCents: PART })) },
  }),
  'all returned': (own) => ({ state: { received: ownWith(own, aPixReturn()) } }),
  'a part returned under the MED': (own) => ({
    state: { received: ownWith(own, aPixReturn({ amountCents: PART, nature: 'MED_FRAUDE' })) },
  }),
  'a refund of ours returned': (own) => ({
    state: { received: ownWith(own, aPixReturn({ amountCents: PART })) },
    recorded: { refunds: new Set(['return1']) },
  }),
  'a return under way': (own) => ({
    state: { received: ownWith(own, aPixReturn({ status: 'processing' })) },
  }),
  'a return that failed': (own) => ({
    state: { received: ownWith(own, aPixReturn({ status: 'failed' })) },
  }),
  'a Pix of suspense returned': (own) => ({
    state: {
      received: [
        ...own,
        stray({ amountCents: PART, returns: [aPixReturn({ amountCents: PART })] }),
      ],
    },
    recorded: { received: new Map([[STRAY, 'suspense']]) },
  }),
  'a return of a Pix of suspense under way': (own) => ({
    state: { received: [...own, stray({ returns: [aPixReturn({ status: 'processing' })] })] },
    recorded: { received: new Map([[STRAY, 'suspense']]) },
  }),
  'a Pix of suspense returned in part': (own) => ({
    state: { received: [...own, stray({ returns: [aPixReturn({ amountCents: PART })] })] },
    recorded: { received: new Map([[STRAY, 'suspense']]) },
  }),
} as const satisfies Record<string, AtAcquirer>;
type WhenName = keyof typeof WHEN;

const nothing = 'rest';
const second = 'suspend second_pix; rest';
const closed = 'suspend charge_closed; rest';
const ended = 'end item; rest';
const partOfItem = ended;
const issueFirst = 'soon';

/** One line an event; columns as in GIVEN. */
const TABLE: Record<WhenName, readonly string[]> = {
  'nothing new': [
    issueFirst,
    'unpaid',
    nothing,
    nothing,
    nothing,
    nothing,
    nothing,
    nothing,
    nothing,
  ],
  'it is active': [
    issueFirst,
    'unpaid',
    nothing,
    nothing,
    nothing,
    'remove; rest',
    'remove; rest',
    nothing,
    nothing,
  ],
  'the exact amount': [
    issueFirst,
    'credit; rest',
    second,
    second,
    second,
    closed,
    closed,
    second,
    second,
  ],
  'a wrong amount': [
    issueFirst,
    'suspend amount_mismatch; unpaid',
    second,
    second,
    second,
    closed,
    closed,
    second,
    second,
  ],
  'removed by the acquirer': [
    issueFirst,
    'fail; rest',
    'ignore removed_by_psp; rest',
    'ignore removed_by_psp; rest',
    'ignore removed_by_psp; rest',
    nothing,
    nothing,
    'ignore removed_by_psp; rest',
    'ignore removed_by_psp; rest',
  ],
  'removed in our name': [
    issueFirst,
    'cancel; rest',
    'ignore removed_by_receiver; rest',
    'ignore removed_by_receiver; rest',
    'ignore removed_by_receiver; rest',
    nothing,
    nothing,
    'ignore removed_by_receiver; rest',
    'ignore removed_by_receiver; rest',
  ],
  'a part returned': [
    issueFirst,
    'unpaid',
    'soon',
    'book returned → paid, 345; rest',
    'book returned → infraction, 345; rest',
    nothing,
    nothing,
    'unbooked exceeds_received; rest',
    'book returned → charged_back, 345; rest',
  ],
  'all returned': [
    issueFirst,
    'unpaid',
    'soon',
    'book returned → refunded, 12345; rest',
    'book returned → refunded, 12345; rest',
    nothing,
    nothing,
    'unbooked exceeds_received; rest',
    'book returned → charged_back, 12345; ignore returned_in_full; rest',
  ],
  'a part returned under the MED': [
    issueFirst,
    'unpaid',
    'soon',
    'book med → charged_back, 0; rest',
    'book med → charged_back, 0; rest',
    nothing,
    nothing,
    'unbooked exceeds_received; rest',
    'book med → charged_back, 0; rest',
  ],
  'a refund of ours returned': [
    issueFirst,
    'unpaid',
    'soon',
    'end refund; at_once',
    'end refund; at_once',
    nothing,
    nothing,
    'end refund; at_once',
    'end refund; at_once',
  ],
  'a return under way': [
    issueFirst,
    'unpaid',
    'routine',
    'routine',
    'routine',
    nothing,
    nothing,
    'routine',
    'routine',
  ],
  'a return that failed': [
    issueFirst,
    'unpaid',
    'soon',
    nothing,
    nothing,
    nothing,
    nothing,
    nothing,
    nothing,
  ],
  'a Pix of suspense returned': [
    issueFirst,
    'end item; unpaid',
    ended,
    ended,
    ended,
    ended,
    ended,
    ended,
    ended,
  ],
  'a return of a Pix of suspense under way': [
    issueFirst,
    'routine',
    'routine',
    'routine',
    'routine',
    'routine',
    'routine',
    'routine',
    'routine',
  ],
  'a Pix of suspense returned in part': [
    issueFirst,
    'end item; unpaid',
    partOfItem,
    partOfItem,
    partOfItem,
    partOfItem,
    partOfItem,
    partOfItem,
    partOfItem,
  ],
};

function check(name: GivenName, when: WhenName): CheckPlan {
  const { charge: changes, received } = GIVEN[name] as Given;
  const charge = aChargeRow(changes);
  const own = received.length > 0 ? [aReceivedPix({ endToEndId: OWN })] : [];
  const { state, recorded = {} }: ReturnType<AtAcquirer> = WHEN[when](own);
  // What was refunded in full was returned before, all of it.
  const before = name === 'refunded' ? [[returnKey(OWN, 'before'), FULL] as const] : [];
  return decideCheck(
    charge,
    { txid: 'txid', status: 'settled', received: own, ...state },
    {
      returns: new Map(before),
      refunds: recorded.refunds ?? new Set(),
      endedRefunds: new Set(),
      disputed: new Set(),
      won: new Set(),
      received: new Map([...received, ...(recorded.received ?? [])]),
    },
  );
}

describe.each(Object.keys(GIVEN) as GivenName[])('given a charge that is %s', (name) => {
  const column = Object.keys(GIVEN).indexOf(name);
  const cells = (Object.keys(WHEN) as WhenName[]).map((when) => ({
    when,
    expected: TABLE[when][column],
  }));
  test.each(cells)('when the acquirer shows: $when, then: $expected', ({ when, expected }) => {
    expect(describeCheck(check(name, when))).toBe(expected);
  });
});
