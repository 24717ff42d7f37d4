import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { RECEIVER } from '#test/charges-under-test.ts';
import { storeCharge } from '#test/store-charge.ts';

import type { ChargeRow } from './charge-row.ts';
import { findAnyCharge } from './charges.sql.ts';
import { announceMove, createChargeMoves } from './move-charges.sql.ts';

/** Moves that come together share a statement; each stands or falls by itself. */

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

const CHARGES = 20;

async function aCharge(): Promise<ChargeRow> {
  const { id } = await storeCharge(database.db);
  const charge = await findAnyCharge(database.db, id);
  if (charge === null) throw new Error('no such charge');
  return charge;
}

async function cancelAll(
  charges: readonly ChargeRow[],
  details: readonly string[] = [],
): Promise<(ChargeRow | null)[]> {
  const deps = {
    moves: createChargeMoves(database.db),
    receiver: RECEIVER,
    wakeOutbox: () => undefined,
  };
  return await Promise.all(
    charges.map((from, index) =>
      announceMove(
        deps,
        {
          from,
          status: 'canceled',
          cause: 'canceled',
          detail: details[index] ?? newId(),
          checkInMs: 'kept',
        },
        ['charge.pix.canceled'],
      ),
    ),
  );
}

async function written(id: string) {
  const [row] = await database.db.query<Record<string, unknown>>(sql`
    select
      status, version, event_sequence,
      array(select detail from charge_history where charge_id = charges.id and version = charges.version) as details,
      (select count(*)::int from events where key = charges.id::text) as events,
      (
        select count(*)::int from outbox
        where event_id in (select event_id from events where key = charges.id::text)
      ) as queued
    from charges where id = ${id}`);
  return row;
}

test('each charge gets its own move, its line of history and its event', async () => {
  const charges = await Promise.all(Array.from({ length: CHARGES }, aCharge));
  const details = charges.map(() => newId());
  const after = await cancelAll(charges, details);
  for (const [index, { id, version, eventSequence }] of charges.entries()) {
    expect(after[index]).toMatchObject({ id, status: 'canceled', version: version + 1 });
    expect(await written(id)).toMatchObject({
      status: 'canceled',
      version: version + 1,
      event_sequence: eventSequence + 1,
      details: [details[index]],
      events: 1,
      queued: 1,
    });
  }
});

test('of two moves of one charge that come together one is made, and the other leaves nothing behind', async () => {
  const charge = await aCharge();
  const others = await Promise.all(Array.from({ length: 4 }, aCharge));
  const after = await cancelAll([charge, ...others, charge]);
  expect([after[0], after.at(-1)].filter((row) => row !== null)).toHaveLength(1);
  expect(await written(charge.id)).toMatchObject({
    version: charge.version + 1,
    events: 1,
    queued: 1,
  });
});

test('a charge that has moved since it was read holds up no other', async () => {
  const [stale, fresh] = [await aCharge(), await aCharge()];
  await database.db.query(sql`update charges set version = version + 1 where id = ${stale.id}`);
  const after = await cancelAll([stale, fresh]);
  expect(after[0]).toBeNull();
  expect(after[1]).toMatchObject({ status: 'canceled' });
  expect(await written(stale.id)).toMatchObject({ status: 'pending', events: 0, queued: 0 });
});

test('what the database refuses for one charge is refused for that one alone', async () => {
  const charges = await Promise.all(Array.from({ length: 5 }, aCharge));
  const details = charges.map((_charge, index) => (index === 2 ? 'nul \u0000' : newId()));
  const deps = {
    moves: createChargeMoves(database.db),
    receiver: RECEIVER,
    wakeOutbox: () => undefined,
  };
  const outcomes = await Promise.allSettled(
    charges.map((from, index) => {
      const detail = details[index] ?? null;
      const move = {
        from,
        status: 'canceled',
        cause: 'canceled',
        detail,
        checkInMs: 'kept',
      } as const;
      return announceMove(deps, move, ['charge.pix.canceled']);
    }),
  );
  expect(outcomes.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
});
