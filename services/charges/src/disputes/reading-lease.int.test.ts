import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { aDispute } from '#test/a-dispute.ts';
import { RECEIVER } from '#test/charges-under-test.ts';
import { storeCharge } from '#test/store-charge.ts';

import { leaseRun } from './dispute-list.sql.ts';
import { insertDispute } from './disputes.sql.ts';
import { readDisputes } from './read-disputes.ts';

const LEASE_MS = 60_000;
const PERIODS = { intervalMs: 10_000, leaseMs: LEASE_MS };
const BLOCKS = 3;

let database: TestDatabase;
/** Pages of the list that were asked for. */
let pages: number;

beforeEach(async () => {
  database = await createTestDatabase('charges');
  pages = 0;
  for (let made = 0; made < BLOCKS; made += 1) {
    const { id: chargeId, accountId } = await storeCharge(database.db, { status: 'charged_back' });
    const lost = { status: 'lost', block: 'standing', endToEndId: `E${newId()}` } as const;
    await insertDispute(database.db, aDispute({ chargeId, accountId, ...lost }));
  }
});
afterEach(() => database[Symbol.asyncDispose]());

/** One run, first of all of blocks; `atBlock` is what happens while the acquirer is asked about one. */
async function read(atBlock: () => Promise<unknown>): Promise<void> {
  const [run] = await leaseRun(database.db, PERIODS);
  if (!run) throw new Error('the list is not due');
  await readDisputes(
    {
      db: database.db,
      receiver: RECEIVER,
      logger: createLogger('charges', 'silent'),
      ...PERIODS,
      returnWindowMs: 0,
      wakeOutbox: () => undefined,
      checkReturns: async () => {
        await atBlock();
        return false;
      },
      noticePix: () => Promise.resolve(),
      acquirer: {
        listDisputes: async () => {
          pages += 1;
          return await Promise.resolve({
            kind: 'page',
            items: [],
            unreadable: [],
            hasMore: false,
          });
        },
        submitDefense: () => Promise.resolve({ kind: 'accepted' }),
      },
    },
    run,
  );
}

test('the lease of a run lasts for each block, however many are compared before the list', async () => {
  const left: number[] = [];
  await read(async () => {
    const [row] = await database.db.query<{ left_ms: number }>(sql`
      select extract(epoch from lease_until - now())::float8 * 1000 as left_ms from dispute_list`);
    left.push(row?.left_ms ?? 0);
    await database.db.query(sql`update dispute_list set lease_until = now()`);
  });
  expect(left).toHaveLength(BLOCKS);
  expect(Math.min(...left)).toBeGreaterThan(LEASE_MS / 2);
  expect(pages).toBe(1);
});

test('a reader that has lost its lease at a block asks for no more blocks and no page', async () => {
  let asked = 0;
  await read(async () => {
    asked += 1;
    await database.db.query(sql`update dispute_list set lease_token = gen_random_uuid()`);
  });
  expect([asked, pages]).toEqual([1, 0]);
});

test('once a clock that was ahead is set back, the list is due, and everything is read again', async () => {
  await database.db.query(sql`
    update dispute_list
    set listed_until = now() + interval '1 hour', whole_at = now() + interval '1 hour',
        check_at = now() + interval '1 hour', lease_until = now() + interval '1 hour', lease_token = gen_random_uuid()`);
  const [run] = await leaseRun(database.db, PERIODS);
  expect(run?.isWhole).toBe(true);
  expect(await leaseRun(database.db, PERIODS)).toEqual([]);
});
