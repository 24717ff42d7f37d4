import { eventually } from '@pixmesh/testkit/eventually';
import { sampled } from '@pixmesh/testkit/long-runs';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { afterEach, expect, test } from 'vitest';

import { seededRandom, shuffled } from '../../fuzz/seeded-random.ts';
import { acquirer } from '../acquirer.ts';
import { aSubscribedMerchant, type SubscribedMerchant } from '../../lives/subscribed-merchant.ts';
import { deliveredTo } from '../../lives/settle-lives.ts';
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
import { inParallel } from '@pixmesh/testkit/in-parallel';
import { createChargeStubbornly, type Json, readCharge, simulator } from '../mesh.ts';

/** What may happen to one charge, in the order in which it happens. */
const EVENTS = ['paid', 'returned', 'disputed', 'lost', 'duplicate'] as const;
type ChargeEvent = (typeof EVENTS)[number];

const AMOUNT_CENTS = 10_000;
const RETURNED_CENTS = 3_000;
const DISPUTED_CENTS = 4_000;
const LEFT_CENTS = AMOUNT_CENTS - RETURNED_CENTS - DISPUTED_CENTS;
const ALL_BALANCES = { available: LEFT_CENTS, pending: 0, held: 0, blocked: 0, suspense: 0 };

/** Of all orders, and of those with the dispute at one place; the seed of the run chooses. */
const ORDERS_SAMPLED = 12;
const ORDERS_SAMPLED_AT = 6;
/** The places of the dispute that a usual run takes. */
const PLACES_SAMPLED = 1;
const AT_ONCE = 24;
const READ_MS_MAX = 90_000;
const LOOKUPS: readonly Channel[] = ['getCharge', 'getReceived', 'listReceived'];

const ORDERS = shuffled(permutationsOf(EVENTS), seededRandom(testSeed()));

/** One charge of a merchant of its own, and what has happened to it at the acquirer so far. */
type Lived = {
  order: readonly ChargeEvent[];
  merchant: SubscribedMerchant;
  chargeId: string;
  happened: Set<ChargeEvent>;
  endToEndId: string;
  disputeId: string;
  /** Whether the dispute was read before it was decided. */
  sawOpen: boolean;
};

afterEach(() => simulator.clearFaults());

test('whatever is read of a charge first, it ends alike, with every event once', async () => {
  expect(ORDERS).toHaveLength(120);
  const orders = sampled(ORDERS, ORDERS_SAMPLED);
  await simulator.setFaults(closed(['callback']));
  await inParallel(AT_ONCE, orders.length, async (index) => {
    const lived = await aLife(orders[index] ?? []);
    for (const event of lived.order) {
      await carryOut(lived, event);
      await announceEvent(lived, event);
      await expectCurrent(lived);
    }
    await expectEnd(lived);
  });
}, 900_000);

test.each(sampled([1, 2, 3, 4], PLACES_SAMPLED))(
  'all that happened before any of it was read, with the dispute as event %i, ends alike',
  async (place) => {
    const all = ORDERS.filter((order) => placeOfDispute(order) === place);
    const orders = sampled(all, ORDERS_SAMPLED_AT);
    const lives: Lived[] = [];
    await inParallel(AT_ONCE, orders.length, async (index) => {
      lives.push(await aLife(orders[index] ?? []));
    });
    await simulator.setFaults(closed(['callback', ...LOOKUPS, 'listDisputes']));
    await inParallel(AT_ONCE, lives.length, async (index) => {
      for (const event of EVENTS) await carryOut(lives[index] as Lived, event);
    });
    await (place === 1 ? readDisputesAlone() : readMoneyAlone(lives, place));
    await simulator.setFaults(closed(['callback']));
    await inParallel(AT_ONCE, lives.length, async (index) => {
      const lived = lives[index] as Lived;
      for (const event of lived.order.slice(place - 1)) await announceEvent(lived, event);
      await expectCurrent(lived);
      await expectEnd(lived);
    });
  },
  900_000,
);

async function aLife(order: readonly ChargeEvent[]): Promise<Lived> {
  const merchant = await aSubscribedMerchant();
  const charge = await createChargeStubbornly(merchant, { amount: AMOUNT_CENTS });
  const happened = new Set<ChargeEvent>();
  const unknown = { endToEndId: '', disputeId: '', sawOpen: false };
  return { order, merchant, chargeId: charge.id, happened, ...unknown };
}

/** Has it happen at the acquirer, after the payment that it needs; nothing is announced. */
async function carryOut(lived: Lived, event: ChargeEvent): Promise<void> {
  if (lived.happened.has(event)) return;
  if (event !== 'paid') await carryOut(lived, 'paid');
  lived.happened.add(event);
  const { endToEndId: end_to_end_id } = lived;
  switch (event) {
    case 'paid':
      lived.endToEndId = (await done(acquirer.pay(lived.chargeId))).end_to_end_id;
      return;
    case 'returned':
      await done(acquirer.returnPix(end_to_end_id, { amount: RETURNED_CENTS }));
      return;
    case 'disputed':
      // One that is read as lost was opened before.
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

/** The acquirer's notice of a event: it announces Pix and returns, and no dispute. */
async function announceEvent(lived: Lived, event: ChargeEvent): Promise<void> {
  if (event === 'disputed') return;
  const { devolucoes, ...pix } = await noticeOf(lived.endToEndId);
  const returns: Json[] = devolucoes ?? [];
  switch (event) {
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
async function expectCurrent(lived: Lived): Promise<void> {
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

function expectedNow(happened: ReadonlySet<ChargeEvent>): object {
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
function blockedOf(happened: ReadonlySet<ChargeEvent>): number {
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
    const events = (await deliveredTo(merchant.hookPath)).map(({ event }) => event);
    expect([order, events.toSorted()]).toEqual([order, expected.toSorted()]);
  }, READ_MS_MAX);
}

/** The list of disputes is read, twice to its end, while no Pix can be looked up. */
async function readDisputesAlone(): Promise<void> {
  await simulator.setFaults([...closed(['callback', ...LOOKUPS]), ...counted(['listDisputes'])]);
  await eventually(async () => {
    expect((await readCounts())['listDisputes']).toBeGreaterThanOrEqual(2);
  }, READ_MS_MAX);
}

/** What comes before the dispute is announced and checked, while disputes cannot be read. */
async function readMoneyAlone(lives: readonly Lived[], place: number): Promise<void> {
  await simulator.setFaults(closed(['callback', 'listReceived', 'listDisputes']));
  await inParallel(AT_ONCE, lives.length, async (index) => {
    const lived = lives[index] as Lived;
    for (const event of lived.order.slice(0, place - 1)) await announceEvent(lived, event);
    await eventually(async () => {
      const charge = await readCharge(lived.merchant, lived.chargeId);
      expect([charge.status, charge.refunded_amount]).toEqual(['charged_back', RETURNED_CENTS]);
    }, READ_MS_MAX);
  });
}

/** The position, from 1, of the first event of the dispute. */
function placeOfDispute(order: readonly ChargeEvent[]): number {
  return 1 + order.findIndex((one) => one === 'disputed' || one === 'lost');
}

function permutationsOf<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((first, index) =>
    permutationsOf(items.toSpliced(index, 1)).map((rest) => [first, ...rest]),
  );
}
