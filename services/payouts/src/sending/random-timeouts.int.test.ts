import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startSendingUnderTest, type SendingUnderTest } from '#test/sending-under-test.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';

/** `PIXMESH_TEST_SEED` replays a run; the test's name says which one it is. */
const SEED = testSeed();
const COUNT = scaled(60, 10_000);
const ACCOUNTS = 5;
/** After the faults have stopped. */
const RECOVERY_MS = 60_000;
const TIMEOUT_MS = scaled(120_000, 1_800_000);

let mesh: SendingUnderTest;
beforeAll(async () => {
  mesh = await startSendingUnderTest();
});
afterAll(async () => {
  await mesh[Symbol.asyncDispose]();
});

/** Half of the calls go wrong, with and without their effect, and so do checks and orders. */
function troubles(seed: number) {
  const rules = [
    { operation: 'sendPayout', fault: 'error_after', status: 504, probability: 0.2 },
    { operation: 'sendPayout', fault: 'error_before', status: 503, probability: 0.15 },
    { operation: 'sendPayout', fault: 'garbage', probability: 0.1 },
    { operation: 'sendPayout', fault: 'reset', probability: 0.1 },
    { operation: 'sendPayout', fault: 'hang', delay_ms: 2_000, probability: 0.05 },
    { operation: 'sendPayout', fault: 'latency', delay_ms: 1_300, probability: 0.1 },
    { operation: 'sendPayout', fault: 'refusal', code: 'pagamento_negado', probability: 0.05 },
    { operation: 'getPayout', fault: 'error_before', status: 500, probability: 0.2 },
    { operation: 'getPayout', fault: 'garbage', probability: 0.05 },
    { operation: 'settlePayout', fault: 'refusal', code: 'AC03', probability: 0.1 },
  ];
  return { seed, rules };
}

async function countByStatus(): Promise<Record<string, number>> {
  const rows = await mesh.db.query<{ status: string; count: number }>(
    sql`select status, count(*)::int as count from payouts group by status`,
  );
  return Object.fromEntries(rows.map((row) => [row.status, row.count]));
}

test(
  `${COUNT} payouts through random timeouts: one settlement each, none failed by age, all resolved (seed ${SEED})`,
  async () => {
    await mesh.simulator.control('PUT', '/control/faults', troubles(SEED));
    for (let account = 0; account < ACCOUNTS; account += 1) {
      await storeDuePayouts(mesh.db, COUNT / ACCOUNTS, { accountId: newId() });
    }
    await using first = await mesh.startWorkers();
    await using second = await mesh.startWorkers();
    await eventually(async () => {
      const [row] = await mesh.db.query<{ sent: boolean }>(
        sql`select bool_and(first_put_at is not null) as sent from payouts`,
      );
      expect(row?.sent).toBe(true);
    }, TIMEOUT_MS);
    await mesh.simulator.control('DELETE', '/control/faults');
    await eventually(async () => {
      await mesh.ledger.answerAll();
      const { completed = 0, failed = 0 } = await countByStatus();
      expect(completed + failed).toBe(COUNT);
    }, RECOVERY_MS);
    expect(first.sender.isAlive() && second.statusCheck.isAlive()).toBe(true);
    await expectOneEndEach();
  },
  TIMEOUT_MS + RECOVERY_MS,
);

/** The simulator's own journal decides: what it settled is completed, what it refused or rejected has failed. */
async function expectOneEndEach(): Promise<void> {
  const ends = new Map<string, string[]>();
  for (const { kind, id_envio: idEnvio } of await mesh.journal()) {
    if (idEnvio === null) continue;
    ends.set(idEnvio, [...(ends.get(idEnvio) ?? []), kind]);
  }
  const payouts = await mesh.db.query<{ id: string; status: string; contradiction: string | null }>(
    sql`select id, status, contradiction from payouts`,
  );
  for (const { id, status, contradiction } of payouts) {
    const kinds = ends.get(id.replaceAll('-', '')) ?? [];
    const orders = kinds.filter((kind) => kind !== 'refused');
    if (status === 'completed') expect(orders).toEqual(['sent', 'settled']);
    else if (orders.length > 0) expect(orders).toEqual(['sent', 'rejected']);
    else expect(kinds).toContain('refused');
    expect(contradiction).toBeNull();
  }
  const commands = await mesh.db.query<{ count: number; distinct: number }>(sql`
    select count(*)::int as count, count(distinct message->'data'->>'hold_id')::int as distinct
    from events
    where topic = 'ledger.commands.v1'`);
  expect(commands).toEqual([{ count: COUNT, distinct: COUNT }]);
}
