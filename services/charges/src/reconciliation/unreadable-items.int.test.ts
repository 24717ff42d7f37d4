import type { ReceivedPix, UnreadableItem } from '@pixmesh/acquirer/acquirer';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import type { CheckOutcome } from '@pixmesh/reconciliation/check';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { anInfraction } from '#test/a-dispute.ts';
import { aReceivedPix } from '#test/a-received-pix.ts';
import { storeCharge } from '#test/store-charge.ts';

import { disputeCheck } from './dispute-check.ts';
import { receivedCheck } from './received-check.ts';

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
    }).run(ALL);
  const named = ({ breaks }: CheckOutcome) => breaks.map(({ kind, id }) => `${kind} ${id}`);
  expect(named(await compare([]))).toEqual(['missing_right theirs', 'missing_left ours']);
  expect(named(await compare([UNREADABLE(null)]))).toEqual([
    'missing_right theirs',
    'unavailable dispute',
  ]);
});
