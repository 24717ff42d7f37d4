import type { Acquirer, ReceivedPix, UnreadableItem } from '@pixmesh/acquirer/acquirer';
import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { type CheckOutcome, NEVER_IN_FLIGHT } from '@pixmesh/reconciliation/check';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { anInfraction } from '#test/a-dispute.ts';
import { aReceivedPix } from '#test/a-received-pix.ts';
import { storeCharge } from '#test/store-charge.ts';

import { chargeStateCheck } from './charge-state-check.ts';
import { disputeCheck } from './dispute-check.ts';
import { receivedCheck } from './received-check.ts';
import { refundCheck } from './refund-check.ts';

const ALL = { since: null, knownIds: [], signal: AbortSignal.timeout(60_000) };
const UNREADABLE = (endToEndId: string | null): UnreadableItem => ({
  position: 0,
  paths: ['valor'],
  endToEndId,
});

let database: TestDatabase;
let endToEndId: string;

beforeAll(async () => {
  database = await createTestDatabase('charges');
  endToEndId = `E${newId()}`;
  const charge = await storeCharge(database.db, { status: 'paid', acceptedE2e: endToEndId });
  await database.db.query(
    sql`update charges set end_to_end_id = ${endToEndId} where id = ${charge.id}`,
  );
  await database.db.query(sql`
    insert into received_pix (end_to_end_id, charge_id, account_id, amount, paid_at, disposition)
    values (${endToEndId}, ${charge.id}, ${charge.accountId}, 12345, now(), 'credit')`);
  await database.db.query(sql`
    insert into disputes (
      id, infraction_id, charge_id, account_id, end_to_end_id, amount, status, reason, arrived_resolved, opened_at,
      defense_deadline_at, acquirer_status, block
    )
    values (
      ${newId()}, 'ours', ${charge.id}, ${charge.accountId}, ${endToEndId}, 12345, 'open', 'SCAM', false, now(), now(),
      'open', 'none'
    )`);
});
afterAll(() => database[Symbol.asyncDispose]());

/** The acquirer tells one page a window, once. */
async function compareReceived(
  items: ReceivedPix[],
  unreadable: UnreadableItem[],
): Promise<CheckOutcome> {
  let pages = 0;
  return await receivedCheck({
    db: database.db,
    pixKey: 'key',
    ledger: {
      findJournals: async () => await Promise.resolve(new Map()),
      listJournals: async function* () {},
    },
    acquirer: {
      getReceived: async () => await Promise.resolve({ kind: 'unknown', cause: 'unreadable' }),
      listReceived: async () => {
        pages += 1;
        const page = pages === 1 ? { items, unreadable } : { items: [], unreadable: [] };
        return await Promise.resolve({ kind: 'page', ...page, hasMore: false });
      },
    },
  }).run(ALL);
}

test('a received Pix that cannot be read is a break, and the others are compared', async () => {
  const other = aReceivedPix({ endToEndId: `E${newId()}` });
  const { breaks } = await compareReceived([other], [UNREADABLE(endToEndId), UNREADABLE(null)]);
  expect(breaks.map(({ kind, id }) => `${kind} ${id}`).toSorted()).toEqual([
    `missing_right ${other.endToEndId}`,
    `unavailable ${endToEndId}`,
    'unavailable received',
  ]);
});

test('a Pix of ours that cannot be read by itself either is no missing one', async () => {
  const { breaks } = await compareReceived([], []);
  expect(breaks).toMatchObject([{ kind: 'unavailable', id: endToEndId }]);
});

/** Kinds of the breaks that name these, in their order. */
function kindsOf({ breaks }: CheckOutcome, ids: readonly string[]) {
  return ids.map((id) => breaks.filter((found) => found.id === id).map(({ kind }) => kind));
}

test.each(['unreadable', 'foreign_code', 'timeout', 'status_500', 'no_turn:full', 'oversize'])(
  'a charge of which the acquirer answers %s is a break, and the others are compared',
  async (cause) => {
    const ids = await Promise.all(
      Array.from({ length: 2 }, async () => {
        const { id } = await storeCharge(database.db, { status: 'paid', createdAt: new Date() });
        return id;
      }),
    );
    const outcome = await compareCharges((txid) =>
      txid === toAcquirerId(ids[0]!) ? { kind: 'unknown', cause } : { kind: 'not_found' },
    );
    expect(kindsOf(outcome, ids)).toEqual([['unavailable'], ['missing_left']]);
  },
);

test('a check of charges fails once the acquirer answers for twenty in succession none', async () => {
  const AWAY = { kind: 'unknown', cause: 'timeout' } as const;
  await Promise.all(
    Array.from({ length: 40 }, () => storeCharge(database.db, { createdAt: new Date() })),
  );
  await expect(compareCharges(() => AWAY)).rejects.toThrow('look-up unknown');
  let asked = 0;
  const { breaks } = await compareCharges(() => {
    asked += 1;
    return asked % 20 === 0 ? { kind: 'not_found' } : AWAY;
  });
  expect(breaks.filter(({ kind }) => kind === 'unavailable').length).toBeGreaterThan(30);
});

/** The acquirer answers this for each charge. */
async function compareCharges(
  answer: (txid: string) => Awaited<ReturnType<Acquirer['getCharge']>>,
): Promise<CheckOutcome> {
  const getCharge = async (txid: string) => await Promise.resolve(answer(txid));
  return await chargeStateCheck({ db: database.db, acquirer: { getCharge } }).run(ALL);
}

test('one that did not come is no break before it has lasted for the window, one that cannot be read is', async () => {
  const { id } = await storeCharge(database.db, { status: 'paid', createdAt: new Date() });
  const changedAt = async (cause: string) => {
    const { breaks } = await compareCharges((txid) =>
      txid === toAcquirerId(id) ? { kind: 'unknown', cause } : { kind: 'not_found' },
    );
    return breaks.find((found) => found.id === id)?.changedAt;
  };
  expect(await changedAt('timeout')).toBeUndefined();
  expect(await changedAt('unreadable')).toEqual(NEVER_IN_FLIGHT);
});

test('a refund of which the acquirer answers what cannot be read, or nothing, is a break, and the others are compared', async () => {
  const charge = await storeCharge(database.db, { status: 'paid' });
  const ids = [newId(), newId()];
  for (const id of ids) {
    await database.db.query(sql`
      insert into refunds (
        id, charge_id, account_id, end_to_end_id, amount, status, hold_id, requested_by, fingerprint, completed_at,
        ended_at, first_put_at
      )
      values (
        ${id}, ${charge.id}, ${charge.accountId}, ${endToEndId}, 200, 'completed', ${newId()}, ${newId()}, '\\x00', now(),
        now(), now()
      )`);
  }
  const check = (cause: string) =>
    refundCheck({
      db: database.db,
      ledger: {
        // Each has its journal: what differs is at the acquirer.
        findJournals: async (commandIds) =>
          await Promise.resolve(
            new Map(commandIds.map((id) => [id, { amount: 200n } as BookedJournal])),
          ),
        listOpenHolds: async () => await Promise.resolve(new Map()),
      },
      acquirer: {
        getRefund: async (_pix, returnId) =>
          await Promise.resolve(
            returnId === toAcquirerId(ids[0]!) ? { kind: 'unknown', cause } : { kind: 'not_found' },
          ),
      },
    }).run(ALL);
  expect(kindsOf(await check('unreadable'), ids)).toEqual([['unavailable'], ['missing_left']]);
  expect(kindsOf(await check('timeout'), ids)).toEqual([['unavailable'], ['missing_left']]);
});

test('a list with an infraction that cannot be read proves the absence of none', async () => {
  const theirs = anInfraction({ id: 'theirs', endToEndId });
  const compare = async (unreadable: UnreadableItem[]) =>
    await disputeCheck({
      db: database.db,
      ledger: { findJournals: async () => await Promise.resolve(new Map()) },
      acquirer: {
        listDisputes: async () =>
          await Promise.resolve({ kind: 'page', items: [theirs], unreadable, hasMore: false }),
      },
      returnWindowMs: 3_600_000,
    }).run(ALL);
  const named = ({ breaks }: CheckOutcome) => breaks.map(({ kind, id }) => `${kind} ${id}`);
  expect(named(await compare([]))).toEqual(['missing_right theirs', 'missing_left ours']);
  expect(named(await compare([UNREADABLE(null)]))).toEqual([
    'missing_right theirs',
    'unavailable dispute',
  ]);
});
