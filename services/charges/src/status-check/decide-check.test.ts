import type { AcquirerCharge, ReceivedPix } from '@pixmesh/acquirer/client';
import { toCents } from '@pixmesh/kernel/money';
import { describe, expect, test } from 'vitest';

import type { ChargeRow } from '#charge/charge-row.ts';
import type { Disposition } from '#received/decide-received.ts';
import { aChargeRow } from '#test/a-charge-row.ts';
import { aPixReturn, aReceivedPix } from '#test/a-received-pix.ts';
import { sayLook } from '#test/describe-check.ts';

import { decideLook, type KnownMoney, type LookPlan, returnKey } from './decide-check.ts';

const OWN = 'E-own';
const STRAY = 'E-stray';
const [FULL, PART] = [toCents(12_345), toCents(345)];

type Given = { charge: Partial<ChargeRow>; recorded: [string, Disposition['kind']][] };

const paid = { acceptedE2e: OWN, endToEndId: OWN } as const;
const credited: Given['recorded'] = [[OWN, 'credit']];

/** Every state that a charge may be in when it is looked at. */
const GIVEN = {
  processing: { charge: { status: 'processing' }, recorded: [] },
  pending: { charge: { status: 'pending' }, recorded: [] },
  'being paid': { charge: { status: 'pending', acceptedE2e: OWN }, recorded: credited },
  paid: { charge: { status: 'paid', ...paid }, recorded: credited },
  infraction: { charge: { status: 'infraction', ...paid }, recorded: credited },
  canceled: { charge: { status: 'canceled' }, recorded: [] },
  failed: { charge: { status: 'failed', failureReason: 'x' }, recorded: [] },
  refunded: {
    charge: { status: 'refunded', ...paid, refundedAmount: FULL },
    recorded: credited,
  },
  'charged back': { charge: { status: 'charged_back', ...paid }, recorded: credited },
} as const satisfies Record<string, Given>;
type GivenName = keyof typeof GIVEN;

type Truth = Pick<AcquirerCharge, 'txid' | 'status' | 'received'>;
type Happening = (own: readonly ReceivedPix[]) => {
  truth: Partial<Truth>;
  known?: Partial<KnownMoney>;
};

const stray = (changes: Partial<ReceivedPix> = {}) =>
  aReceivedPix({ endToEndId: STRAY, paidAt: new Date('2026-11-21T12:31:00.000Z'), ...changes });

function ownWith(
  own: readonly ReceivedPix[],
  ...returns: ReceivedPix['returns']
): Truth['received'] {
  return own.map((pix) => ({ ...pix, returns }));
}

/** Everything that can have happened at the acquirer. `own` is the Pix that pays the charge, where there is one. */
const WHEN = {
  'nothing new': (own) => ({ truth: { received: [...own] } }),
  'it is active': (own) => ({ truth: { status: 'active', received: [...own] } }),
  'the exact amount': (own) => ({ truth: { received: [...own, stray()] } }),
  'a wrong amount': (own) => ({ truth: { received: [...own, stray({ amountCents: PART })] } }),
  'removed by the acquirer': (own) => ({ truth: { status: 'removed_by_psp', received: [...own] } }),
  'removed in our name': (own) => ({
    truth: { status: 'removed_by_receiver', received: [...own] },
  }),
  'a part returned': (own) => ({
    truth: { received: ownWith(own, aPixReturn({ amountCents: PART })) },
  }),
  'all returned': (own) => ({ truth: { received: ownWith(own, aPixReturn()) } }),
  'a part returned under the MED': (own) => ({
    truth: { received: ownWith(own, aPixReturn({ amountCents: PART, nature: 'MED_FRAUDE' })) },
  }),
  'a refund of ours returned': (own) => ({
    truth: { received: ownWith(own, aPixReturn({ amountCents: PART })) },
    known: { refunds: new Set(['return1']) },
  }),
  'a return under way': (own) => ({
    truth: { received: ownWith(own, aPixReturn({ status: 'processing' })) },
  }),
  'a return that failed': (own) => ({
    truth: { received: ownWith(own, aPixReturn({ status: 'failed' })) },
  }),
  'a Pix of suspense returned': (own) => ({
    truth: {
      received: [
        ...own,
        stray({ amountCents: PART, returns: [aPixReturn({ amountCents: PART })] }),
      ],
    },
    known: { recorded: new Map([[STRAY, 'suspense']]) },
  }),
  'a return of a Pix of suspense under way': (own) => ({
    truth: { received: [...own, stray({ returns: [aPixReturn({ status: 'processing' })] })] },
    known: { recorded: new Map([[STRAY, 'suspense']]) },
  }),
  'a Pix of suspense returned in part': (own) => ({
    truth: { received: [...own, stray({ returns: [aPixReturn({ amountCents: PART })] })] },
    known: { recorded: new Map([[STRAY, 'suspense']]) },
  }),
} as const satisfies Record<string, Happening>;
type WhenName = keyof typeof WHEN;

const nothing = 'rest';
const second = 'suspend second_pix; rest';
const closed = 'suspend charge_closed; rest';
const ended = 'end item; rest';
const partOfItem = ended;
const issueFirst = 'soon';

/** One line a happening; columns as in GIVEN. */
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

function look(name: GivenName, when: WhenName): LookPlan {
  const { charge: changes, recorded } = GIVEN[name] as Given;
  const charge = aChargeRow(changes);
  const own = recorded.length > 0 ? [aReceivedPix({ endToEndId: OWN })] : [];
  const { truth, known = {} }: ReturnType<Happening> = WHEN[when](own);
  // What was refunded in full was returned before, all of it.
  const before = name === 'refunded' ? [[returnKey(OWN, 'before'), FULL] as const] : [];
  return decideLook(
    charge,
    { txid: 'txid', status: 'settled', received: own, ...truth },
    {
      returns: new Map(before),
      refunds: known.refunds ?? new Set(),
      passedOn: new Set(),
      recorded: new Map([...recorded, ...(known.recorded ?? [])]),
    },
  );
}

describe.each(Object.keys(GIVEN) as GivenName[])('given a charge that is %s', (name) => {
  const column = Object.keys(GIVEN).indexOf(name);
  const cells = (Object.keys(WHEN) as WhenName[]).map((when) => ({
    when,
    wanted: TABLE[when][column],
  }));
  test.each(cells)('when the acquirer shows: $when, then: $wanted', ({ when, wanted }) => {
    expect(sayLook(look(name, when))).toBe(wanted);
  });
});
