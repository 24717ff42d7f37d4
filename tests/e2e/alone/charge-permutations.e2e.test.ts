import { eventually } from '@pixmesh/testkit/eventually';
import { afterEach, expect, test } from 'vitest';

import { acquirer } from '../acquirer.ts';
import { aListeningMerchant, type ListeningMerchant } from '../../lives/subscribed-merchant.ts';
import { toldOf } from '../../lives/settle-lives.ts';
import {
  announce,
  balancesOf,
  type Channel,
  closed,
  counted,
  disputesOf,
  noticeOf,
  readCounts,
} from '../acquirer-channels.ts';
import { expectNoBreaks } from '../find-breaks.ts';
import { inParallel } from '../in-parallel.ts';
import { createChargeStubbornly, type Json, readCharge, simulator } from '../mesh.ts';

/** What may happen to one charge, in the order in which it happens. */
const HAPPENINGS = ['paid', 'returned', 'disputed', 'lost', 'duplicate'] as const;
type Happening = (typeof HAPPENINGS)[number];

const AMOUNT_CENTS = 10_000;
const RETURNED_CENTS = 3_000;
const DISPUTED_CENTS = 4_000;
const LEFT_CENTS = AMOUNT_CENTS - RETURNED_CENTS - DISPUTED_CENTS;
const ALL_BALANCES = { available: LEFT_CENTS, pending: 0, held: 0, blocked: 0, suspense: 0 };

const AT_ONCE = 24;
const READ_MS_MAX = 90_000;
const LOOKS: readonly Channel[] = ['getCharge', 'getReceived', 'listReceived'];

/** One charge of a merchant of its own, and what has happened to it at the acquirer so far. */
type Lived = {
  order: readonly Happening[];
  merchant: ListeningMerchant;
  chargeId: string;
  happened: Set<Happening>;
  endToEndId: string;
  disputeId: string;
  /** Whether the dispute was read before it was decided. */
  sawOpen: boolean;
};

afterEach(() => simulator.clearFaults());

test('whatever of a charge is read back first, it ends alike, with every event once', async () => {
  const orders = permutationsOf(HAPPENINGS);
  expect(orders).toHaveLength(120);
  await simulator.setFaults(closed(['callback']));
  await inParallel(AT_ONCE, orders.length, async (index) => {
    const lived = await aLife(orders[index] ?? []);
    for (const happening of lived.order) {
      await happen(lived, happening);
      await tell(lived, happening);
      await readBack(lived);
    }
    await expectEnd(lived);
  });
}, 900_000);

test.each([1, 2, 3, 4])(
  'all that happened before any of it was heard, with the dispute as news %i, ends alike',
  async (place) => {
    const orders = permutationsOf(HAPPENINGS).filter((order) => placeOfDispute(order) === place);
    const lives: Lived[] = [];
    await inParallel(AT_ONCE, orders.length, async (index) => {
      lives.push(await aLife(orders[index] ?? []));
    });
    await simulator.setFaults(closed(['callback', ...LOOKS, 'listDisputes']));
    await inParallel(AT_ONCE, lives.length, async (index) => {
      for (const happening of HAPPENINGS) await happen(lives[index] as Lived, happening);
    });
    await (place === 1 ? hearOfDisputesAlone() : hearOfMoneyAlone(lives, place));
    await simulator.setFaults(closed(['callback']));
    await inParallel(AT_ONCE, lives.length, async (index) => {
      const lived = lives[index] as Lived;
      for (const happening of lived.order.slice(place - 1)) await tell(lived, happening);
      await readBack(lived);
      await expectEnd(lived);
    });
  },
  900_000,
);

test('reconciliation finds every history explained', async () => {
  await expectNoBreaks();
});

async function aLife(order: readonly Happening[]): Promise<Lived> {
  const merchant = await aListeningMerchant();
  const charge = await createChargeStubbornly(merchant, { amount: AMOUNT_CENTS });
  const happened = new Set<Happening>();
  const unknown = { endToEndId: '', disputeId: '', sawOpen: false };
  return { order, merchant, chargeId: charge.id, happened, ...unknown };
}

/** Has it happen at the acquirer, after the payment that it needs; nobody is told. */
async function happen(lived: Lived, happening: Happening): Promise<void> {
  if (lived.happened.has(happening)) return;
  if (happening !== 'paid') await happen(lived, 'paid');
  lived.happened.add(happening);
  const { endToEndId: end_to_end_id } = lived;
  switch (happening) {
    case 'paid':
      lived.endToEndId = (await done(acquirer.pay(lived.chargeId))).end_to_end_id;
      return;
    case 'returned':
      await done(acquirer.returnPix(end_to_end_id, { amount: RETURNED_CENTS }));
      return;
    case 'disputed':
      // One that is heard of as lost was opened before.
      if (lived.happened.has('lost')) return;
      lived.disputeId = (await done(acquirer.openDispute(aDispute(end_to_end_id)))).id;
      return;
    case 'lost':
      await (lived.happened.has('disputed')
        ? done(acquirer.decideDispute(lived.disputeId, { outcome: 'lost' }))
        : done(acquirer.openDispute({ ...aDispute(end_to_end_id), status: 'lost' })));
      return;
    case 'duplicate':
      return;
  }
}

function aDispute(end_to_end_id: string): object {
  return { end_to_end_id, amount: DISPUTED_CENTS, reason: 'scam' };
}

async function done(act: Promise<{ status: number; body: Json }>): Promise<Json> {
  const { status, body } = await act;
  expect([status < 300, body]).toEqual([true, body]);
  return body;
}

/** The acquirer's notice of a happening: it announces Pix and returns, and no dispute. */
async function tell(lived: Lived, happening: Happening): Promise<void> {
  if (happening === 'disputed') return;
  const { devolucoes, ...pix } = await noticeOf(lived.endToEndId);
  const returns: Json[] = devolucoes ?? [];
  switch (happening) {
    case 'paid':
      return await announce([pix]);
    case 'duplicate':
      return await announce([pix, pix]);
    case 'returned':
      return await announce([{ ...pix, devolucoes: returns.filter(isOrdinary) }]);
    case 'lost':
      return await announce([{ ...pix, devolucoes: returns.filter((one) => !isOrdinary(one)) }]);
  }
}

function isOrdinary(returned: Json): boolean {
  return returned.natureza === 'ORIGINAL';
}

/** Waits until the mesh says what has happened at the acquirer, and not more. */
async function readBack(lived: Lived): Promise<void> {
  const { happened } = lived;
  if (!happened.has('paid')) return;
  await eventually(async () => {
    const charge = await readCharge(lived.merchant, lived.chargeId);
    const disputes = await disputesOf(lived.chargeId);
    expect({
      order: lived.order.join(),
      status: charge.status,
      refunded: charge.refunded_amount,
      disputes: disputes.map(({ status, amount, returned_amount }) => ({
        status,
        amount,
        returned_amount,
      })),
      balances: await balancesOf(lived.merchant.accountId),
    }).toEqual({ order: lived.order.join(), ...expectedNow(happened) });
  }, READ_MS_MAX);
  if (happened.has('disputed') && !happened.has('lost')) lived.sawOpen = true;
}

function expectedNow(happened: ReadonlySet<Happening>): object {
  const refunded = happened.has('returned') ? RETURNED_CENTS : 0;
  const isLost = happened.has('lost');
  const isDisputed = isLost || happened.has('disputed');
  const returned_amount = isLost ? DISPUTED_CENTS : 0;
  // What is returned while a part is blocked comes out of that part first (decision 79).
  const blocked = isDisputed && !isLost ? blockedOf(happened) : 0;
  const available = AMOUNT_CENTS - refunded - returned_amount - blocked;
  const open = isDisputed ? 'infraction' : 'paid';
  return {
    status: isLost ? 'charged_back' : open,
    refunded,
    disputes: isDisputed
      ? [{ status: isLost ? 'lost' : 'open', amount: DISPUTED_CENTS, returned_amount }]
      : [],
    balances: { available, pending: 0, held: 0, blocked, suspense: 0 },
  };
}

/** A set remembers in which order it was filled. */
function blockedOf(happened: ReadonlySet<Happening>): number {
  const order = [...happened];
  const returnedLater = order.indexOf('returned') > order.indexOf('disputed');
  return returnedLater ? DISPUTED_CENTS - RETURNED_CENTS : DISPUTED_CENTS;
}

/** The end that every order has, and the events that explain the way to it. */
async function expectEnd(lived: Lived): Promise<void> {
  const { chargeId, merchant, order, sawOpen } = lived;
  const [charge, [dispute]] = [await readCharge(merchant, chargeId), await disputesOf(chargeId)];
  expect([order, charge.status, charge.refunded_amount]).toEqual([
    order,
    'charged_back',
    RETURNED_CENTS,
  ]);
  expect(await balancesOf(merchant.accountId)).toEqual(ALL_BALANCES);
  expect([order, dispute.arrived_resolved]).toEqual([order, !sawOpen]);
  const expected = [
    'charge.pix.charged_back',
    'charge.pix.created',
    'charge.pix.emitted',
    'charge.pix.paid',
    'dispute.pix.lost',
    ...(sawOpen ? ['charge.pix.infraction', 'dispute.pix.opened'] : []),
  ];
  await eventually(async () => {
    const events = (await toldOf(merchant.hookPath)).map(({ event }) => event);
    expect([order, events.toSorted()]).toEqual([order, expected.toSorted()]);
  }, READ_MS_MAX);
}

/** The list of disputes is read, twice to its end, while no Pix can be looked at. */
async function hearOfDisputesAlone(): Promise<void> {
  await simulator.setFaults([...closed(['callback', ...LOOKS]), ...counted(['listDisputes'])]);
  await eventually(async () => {
    expect((await readCounts())['listDisputes']).toBeGreaterThanOrEqual(2);
  }, READ_MS_MAX);
}

/** What comes before the dispute is told and looked at, while disputes cannot be read. */
async function hearOfMoneyAlone(lives: readonly Lived[], place: number): Promise<void> {
  await simulator.setFaults(closed(['callback', 'listReceived', 'listDisputes']));
  await inParallel(AT_ONCE, lives.length, async (index) => {
    const lived = lives[index] as Lived;
    for (const happening of lived.order.slice(0, place - 1)) await tell(lived, happening);
    await eventually(async () => {
      const charge = await readCharge(lived.merchant, lived.chargeId);
      expect([charge.status, charge.refunded_amount]).toEqual(['charged_back', RETURNED_CENTS]);
    }, READ_MS_MAX);
  });
}

/** The position, from 1, of the first news of the dispute. */
function placeOfDispute(order: readonly Happening[]): number {
  return 1 + order.findIndex((one) => one === 'disputed' || one === 'lost');
}

function permutationsOf<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((first, index) =>
    permutationsOf(items.toSpliced(index, 1)).map((rest) => [first, ...rest]),
  );
}
