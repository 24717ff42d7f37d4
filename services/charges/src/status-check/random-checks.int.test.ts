import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';
import type { ChargeId } from '@pixmesh/kernel/ids';
import { toAcquirerId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { leaseCharge } from '#charge/charge-checks.sql.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { createChargeMoves } from '#charge/move-charges.sql.ts';
import { createCreditedCharges } from '#received/credited-charges.sql.ts';
import { markPaid, type MarkPaidDeps } from '#received/mark-paid.ts';
import { createChargeReceipts } from '#received/receipts.sql.ts';
import { createRecordedPix } from '#received/received-pix.sql.ts';
import { listHistories } from '#reconciliation/history-check.sql.ts';
import { compareHistory } from '#reconciliation/history-check.ts';
import { aPixReturn, aReceivedPix } from '#test/a-received-pix.ts';
import { RECEIVER } from '#test/charges-under-test.ts';
import { storeCharge } from '#test/store-charge.ts';

import { applyProviderState, type ApplyStateDeps } from './apply-provider-state.ts';
import type { ProviderState } from './decide-check.ts';

let database: TestDatabase;
let deps: ApplyStateDeps & MarkPaidDeps;

beforeAll(async () => {
  database = await createTestDatabase('charges');
  deps = {
    db: database.db,
    moves: createChargeMoves(database.db),
    receipts: createChargeReceipts(database.db),
    recordedPix: createRecordedPix(database.db),
    creditedCharges: createCreditedCharges(database.db),
    logger: createLogger('charges', 'silent'),
    receiver: RECEIVER,
    wakeOutbox: () => undefined,
    acquirer: {
      cancelCharge: async () => await Promise.resolve({ kind: 'not_found' }),
      listDisputes: async () => await Promise.resolve({ kind: 'unknown', cause: 'not asked here' }),
    },
  };
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

/** What may happen to one charge, besides being checked. */
const eventAtAcquirer = fc.oneof(
  fc.record({ kind: fc.constant('pix' as const), exact: fc.boolean() }),
  fc.record({
    kind: fc.constant('return' as const),
    of: fc.nat(3),
    part: fc.boolean(),
    nature: fc.constantFrom('ORIGINAL', 'MED_FRAUDE'),
  }),
  fc.record({
    kind: fc.constant('check' as const),
    times: fc.integer({ min: 1, max: 4 }),
    leased: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('ledger' as const) }),
  fc.record({
    kind: fc.constant('removal' as const),
    by: fc.constantFrom('removed_by_psp' as const, 'removed_by_receiver' as const),
  }),
);

/** Over before the next event. */
const LEASE_MS = 1;
let lives = 0;

async function live(
  story: readonly (typeof eventAtAcquirer extends fc.Arbitrary<infer T> ? T : never)[],
) {
  lives += 1;
  const { id } = await storeCharge(database.db);
  await database.db.query(sql`
    insert into charge_history (charge_id, version, to_status, cause)
    select id, version, status, 'created' from charges where id = ${id}`);
  const amount = (await find(id)).amount;
  const state: ProviderState = { txid: toAcquirerId(id), status: 'active', received: [] };
  for (const [index, event] of story.entries()) {
    const pix = event.kind === 'return' ? state.received[event.of] : undefined;
    if (event.kind === 'pix') {
      const amountCents = event.exact ? amount : toCents(amount + 1n);
      state.received.push(
        aReceivedPix({ endToEndId: `E-${lives}-${index}`, amountCents, paidAt: new Date(index) }),
      );
      state.status = 'settled';
    } else if (event.kind === 'removal' && state.received.length === 0) {
      state.status = event.by;
    } else if (event.kind === 'return' && pix) {
      returnOf(pix, { id: `r${index}`, nature: event.nature, isPart: event.part });
    } else if (event.kind === 'check') {
      const read = event.leased ? lease : find;
      await Promise.all(Array.from({ length: event.times }, () => check(id, state, read)));
    } else if (event.kind === 'ledger') await credit(id);
  }
  await credit(id);
  await finish(id, state);
  return { id, state };
}

function returnOf(
  pix: ReceivedPix,
  { id, nature, isPart }: { id: string; nature: string; isPart: boolean },
): void {
  const returned = pix.returns.reduce((sum, { amountCents }) => sum + amountCents, 0n);
  const left = pix.amountCents - returned;
  const amountCents = toCents(isPart && left > 1n ? left / 2n : left);
  if (amountCents > 0n) pix.returns.push(aPixReturn({ id, nature, amountCents }));
}

async function find(id: ChargeId) {
  const charge = await findAnyCharge(database.db, id);
  if (charge === null) throw new Error('no such charge');
  return charge;
}

/** As the job and callbacks check it; one that another check holds is read without a lease. */
async function lease(id: ChargeId) {
  return (await leaseCharge(database.db, id, LEASE_MS)) ?? (await find(id));
}

async function check(id: ChargeId, state: ProviderState, read = find) {
  return await applyProviderState(deps, await read(id), structuredClone(state));
}

/** Checks until none is requested any more. */
async function finish(id: ChargeId, state: ProviderState): Promise<void> {
  for (let checks = 0; checks < 20; checks += 1) {
    const next = await check(id, state);
    await credit(id);
    if (next === 'rest' || next === 'routine' || next === 'unpaid') return;
  }
}

async function credit(id: ChargeId): Promise<void> {
  const charge = await find(id);
  if (charge.acceptedE2e === null) return;
  await markPaid(deps, { data: { charge_id: id, end_to_end_id: charge.acceptedE2e } });
}

test(
  'whatever happens, in whatever order, and however often it is checked: history has no gaps, each Pix and each return is booked once, events are numbered, and another check changes nothing',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(eventAtAcquirer, { minLength: 1, maxLength: 12 }),
        async (story) => {
          const { id, state } = await live(story);
          const before = await find(id);
          expect(['rest', 'routine', 'unpaid']).toContain(await check(id, state));
          expect((await find(id)).version).toBe(before.version);
          const returns = state.received.flatMap((pix) => pix.returns);
          const [counted] = await database.db.query<{
            pix: number;
            returns: number;
            credits: number;
          }>(sql`
          select
            (select count(*)::int from received_pix where charge_id = ${id}) as pix,
            (select count(*)::int from pix_returns where charge_id = ${id}) as returns,
            (select count(*)::int from received_pix where charge_id = ${id} and disposition = 'credit') as credits`);
          expect(counted).toEqual({
            pix: state.received.length,
            returns: returns.length,
            credits: before.acceptedE2e === null ? 0 : 1,
          });
          const events = await database.db.query<{ sequence: number }>(
            sql`select sequence from events where key = ${id} order by sequence`,
          );
          expect(events.map(({ sequence }) => sequence)).toEqual(
            Array.from({ length: before.eventSequence }, (_, index) => index + 1),
          );
        },
      ),
      { numRuns: scaled(30, 3_000) },
    );
    const histories = await listHistories(database.db, { after: null, limit: 10_000 });
    expect(histories.length).toBe(lives);
    expect(histories.flatMap(compareHistory)).toEqual([]);
  },
  scaled(120_000, 1_800_000),
);
