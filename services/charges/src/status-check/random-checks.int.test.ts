import type { ReceivedPix } from '@pixmesh/acquirer/client';
import type { ChargeId } from '@pixmesh/kernel/ids';
import { toAcquirerId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { findAnyCharge } from '#charge/charges.sql.ts';
import { markPaid } from '#received/mark-paid.ts';
import { listHistories } from '#reconciliation/history-check.sql.ts';
import { judgeHistory } from '#reconciliation/history-check.ts';
import { aPixReturn, aReceivedPix } from '#test/a-received-pix.ts';
import { RECEIVER } from '#test/charges-under-test.ts';
import { storeCharge } from '#test/store-charge.ts';

import { applyTruth, type ApplyTruthDeps, type Truth } from './apply-provider-state.ts';

let database: TestDatabase;
let deps: ApplyTruthDeps;

beforeAll(async () => {
  database = await createTestDatabase('charges');
  deps = {
    db: database.db,
    logger: createLogger('charges', 'silent'),
    receiver: RECEIVER,
    wakeOutbox: () => undefined,
    acquirer: { cancelCharge: async () => await Promise.resolve({ kind: 'not_found' }) },
    refunds: {
      findOwn: async () => await Promise.resolve(new Set()),
      end: async () => await Promise.resolve(true),
    },
    findDisputeId: async () => await Promise.resolve(null),
  };
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

/** What may happen to one charge, besides being looked at. */
const happening = fc.oneof(
  fc.record({ kind: fc.constant('pix' as const), exact: fc.boolean() }),
  fc.record({
    kind: fc.constant('return' as const),
    of: fc.nat(3),
    part: fc.boolean(),
    nature: fc.constantFrom('ORIGINAL', 'MED_FRAUDE'),
  }),
  fc.record({ kind: fc.constant('look' as const), times: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('ledger' as const) }),
  fc.record({
    kind: fc.constant('removal' as const),
    by: fc.constantFrom('removed_by_psp' as const, 'removed_by_receiver' as const),
  }),
);

let lives = 0;

async function live(
  story: readonly (typeof happening extends fc.Arbitrary<infer T> ? T : never)[],
) {
  lives += 1;
  const { id } = await storeCharge(database.db);
  await database.db.query(sql`
    insert into charge_history (charge_id, version, to_status, cause)
    select id, version, status, 'created' from charges where id = ${id}`);
  const amount = (await find(id)).amount;
  const truth: Truth = { txid: toAcquirerId(id), status: 'active', received: [] };
  for (const [index, event] of story.entries()) {
    const pix = event.kind === 'return' ? truth.received[event.of] : undefined;
    if (event.kind === 'pix') {
      const amountCents = event.exact ? amount : toCents(amount + 1n);
      truth.received.push(
        aReceivedPix({ endToEndId: `E-${lives}-${index}`, amountCents, paidAt: new Date(index) }),
      );
      truth.status = 'settled';
    } else if (event.kind === 'removal' && truth.received.length === 0) {
      truth.status = event.by;
    } else if (event.kind === 'return' && pix) {
      giveBack(pix, { id: `r${index}`, nature: event.nature, isPart: event.part });
    } else if (event.kind === 'look') {
      await Promise.all(Array.from({ length: event.times }, () => look(id, truth)));
    } else if (event.kind === 'ledger') await credit(id);
  }
  await credit(id);
  await settle(id, truth);
  return { id, truth };
}

function giveBack(
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

async function look(id: ChargeId, truth: Truth) {
  return await applyTruth(deps, await find(id), structuredClone(truth));
}

/** Looks until none is asked for any more. */
async function settle(id: ChargeId, truth: Truth): Promise<void> {
  for (let looks = 0; looks < 20; looks += 1) {
    const next = await look(id, truth);
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
  'whatever happens, in whatever order, and however often it is looked at: history has no gaps, each Pix and each return is booked once, events are numbered, and another look changes nothing',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 1, maxLength: 12 }), async (story) => {
        const { id, truth } = await live(story);
        const before = await find(id);
        expect(['rest', 'routine', 'unpaid']).toContain(await look(id, truth));
        expect((await find(id)).version).toBe(before.version);
        const returns = truth.received.flatMap((pix) => pix.returns);
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
          pix: truth.received.length,
          returns: returns.length,
          credits: before.acceptedE2e === null ? 0 : 1,
        });
        const events = await database.db.query<{ sequence: number }>(
          sql`select sequence from events where key = ${id} order by sequence`,
        );
        expect(events.map(({ sequence }) => sequence)).toEqual(
          Array.from({ length: before.eventSequence }, (_, index) => index + 1),
        );
      }),
      { numRuns: scaled(60, 3_000) },
    );
    const histories = await listHistories(database.db, { after: null, limit: 10_000 });
    expect(histories.length).toBe(lives);
    expect(histories.flatMap(judgeHistory)).toEqual([]);
  },
  scaled(120_000, 1_800_000),
);
