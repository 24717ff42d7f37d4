import type { Acquirer, AcquirerPayout } from '@pixmesh/acquirer/acquirer';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import {
  aCharge,
  aSend,
  listNotices,
  receiveCallbacks,
  startTestSimulator,
  type TestSimulator,
} from '#test/test-simulator.ts';

const PARALLEL = 20;

let database: TestDatabase;
let simulator: TestSimulator;
let acquirer: Acquirer;

beforeEach(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  acquirer = simulator.client();
  await receiveCallbacks(simulator);
});

afterEach(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Several at a time, as many as one client would. */
async function sendMany(count: number): Promise<AcquirerPayout[]> {
  const payouts: AcquirerPayout[] = [];
  while (payouts.length < count) {
    const size = Math.min(PARALLEL, count - payouts.length);
    payouts.push(...(await Promise.all(Array.from({ length: size }, sendOne))));
  }
  return payouts;
}

async function sendOne(): Promise<AcquirerPayout> {
  const outcome = await acquirer.sendPayout(aSend());
  if (outcome.kind !== 'accepted') throw new Error(`unexpected ${outcome.kind}`);
  return outcome.payout;
}

/** End-to-end ids of every notice so far. */
async function announced(): Promise<string[][]> {
  return (await listNotices(simulator)).map(({ body }) => {
    const { pix } = JSON.parse(body) as { pix: { endToEndId: string }[] };
    return pix.map(({ endToEndId }) => endToEndId);
  });
}

async function fault(rule: object): Promise<void> {
  const rules = [{ operation: 'callback', ...rule }];
  await simulator.call('PUT', '/control/faults', { rules });
}

describe('the list of what was sent', () => {
  it('holds a window with both ends, oldest first, with what came back', async () => {
    const times = [0, 1, 2, 3].map((second) => `2020-01-01T00:00:0${second}.000Z`);
    const ids: string[] = [];
    for (const requested_at of times) {
      const { body } = await simulator.call('POST', '/control/sends', {
        amount: 100,
        requested_at,
      });
      ids.push(body['end_to_end_id'] as string);
    }
    await simulator.call('POST', `/control/pix/${ids[1]}/returns`, { amount: 40 });
    const [, from = '', to = ''] = times;
    const page = await acquirer.listSent({ from: new Date(from), to: new Date(to), page: 0 });
    expect(page).toMatchObject({
      kind: 'page',
      items: [
        { endToEndId: ids[1], requestedAt: new Date(from), returns: [{ amountCents: 40n }] },
        { endToEndId: ids[2], requestedAt: new Date(to), returns: [] },
      ],
      hasMore: false,
    });
    const beyond = { from: new Date(to), to: new Date(from), page: 0 };
    expect(await acquirer.listSent(beyond)).toEqual({ kind: 'unknown', cause: 'status_400' });
  });

  it('goes on page by page without losing or repeating anything', async () => {
    await database.db.query(sql`
      insert into sends (end_to_end_id, id_envio, status, amount, pix_key, recipient, requested_at)
      select 'E' || n, 'i' || n, 'REALIZADO', n, 'key', '{"chave":"x"}',
             timestamptz '2020-01-01' + n * interval '1 ms'
      from generate_series(1, 2500) as n`);
    const seen: bigint[] = [];
    for (let page = 0; ; page += 1) {
      const window = { from: new Date('2020-01-01'), to: new Date('2020-01-02'), page };
      const outcome = await acquirer.listSent(window);
      if (outcome.kind !== 'page') throw new Error(`unexpected ${outcome.cause}`);
      seen.push(...outcome.items.map(({ amountCents }) => amountCents));
      if (!outcome.hasMore) break;
    }
    expect(seen).toEqual(Array.from({ length: 2_500 }, (_, index) => BigInt(index + 1)));
  });
});

describe('the list of what was received', () => {
  it('is read by the client', async () => {
    const charge = aCharge();
    await acquirer.issueCharge(charge);
    const paid_at = '2020-01-01T00:00:00.000Z';
    await simulator.call('POST', `/control/charges/${charge.txid}/pay`, { paid_at });
    const at = new Date(paid_at);
    expect(await acquirer.listReceived({ from: at, to: at, page: 0 })).toMatchObject({
      kind: 'page',
      items: [{ txid: charge.txid, amountCents: 1_000n, paidAt: at }],
      hasMore: false,
    });
    const next = await acquirer.listReceived({ from: at, to: at, page: 1 });
    expect(next).toEqual({ kind: 'page', items: [], unreadable: [], hasMore: false });
  });
});

describe('the notices of orders', () => {
  it('are grouped, and speak of every order once', async () => {
    const rules = [{ operation: 'settlePayout', fault: 'hang' }];
    await simulator.call('PUT', '/control/faults', { rules });
    const payouts = await sendMany(40);
    await simulator.call('DELETE', '/control/faults');
    await eventually(async () => {
      const ids = (await announced()).flat();
      expect(ids.toSorted()).toEqual(payouts.map(({ endToEndId }) => endToEndId).toSorted());
    });
    const sizes = (await announced()).map((ids) => ids.length);
    expect(Math.max(...sizes)).toBe(10);
  });

  it('are repeated when the script says so, each alone', async () => {
    await fault({ fault: 'duplicate', count: 3 });
    const payouts = await sendMany(3);
    await eventually(async () => expect((await announced()).flat()).toHaveLength(6));
    expect((await announced()).every((ids) => ids.length === 1)).toBe(true);
    expect(new Set((await announced()).flat())).toEqual(
      new Set(payouts.map(({ endToEndId }) => endToEndId)),
    );
  });

  it('are dropped one by one, while the orders settle', async () => {
    await fault({ fault: 'drop', count: 2 });
    const payouts = await sendMany(6);
    await eventually(async () => expect((await announced()).flat()).toHaveLength(4));
    for (const { idEnvio } of payouts) {
      expect(await acquirer.getPayout(idEnvio ?? '')).toMatchObject({
        value: { status: 'settled' },
      });
    }
    await eventually(async () => {
      expect(await database.db.query(sql`select from callbacks`)).toEqual([]);
    });
  });

  it('are delayed alone, while others go out', async () => {
    await fault({ fault: 'delay', delay_ms: 1_500, count: 1 });
    const [late] = await sendMany(1);
    const [soon] = await sendMany(1);
    await eventually(async () => expect((await announced()).flat()).toHaveLength(2));
    expect(await announced()).toEqual([[soon?.endToEndId], [late?.endToEndId]]);
  });

  it('are tried again until they are taken', async () => {
    await simulator.call('PUT', '/receiver/behaviour/callbacks/pix', { status: 503, times: 2 });
    const [payout] = await sendMany(1);
    await eventually(async () => {
      const notices = await listNotices(simulator);
      expect(notices.map((notice) => notice.answered_status)).toEqual([503, 503, 200]);
    });
    expect(new Set((await announced()).flat())).toEqual(new Set([payout?.endToEndId]));
  });
});

describe('many orders at once', () => {
  it('each settle once, in few transactions, and are one line each', async () => {
    const rules = [{ operation: 'settlePayout', fault: 'hang' }];
    await simulator.call('PUT', '/control/faults', { rules });
    await sendMany(200);
    await simulator.call('DELETE', '/control/faults');
    await eventually(async () => {
      const rows = await database.db.query<{ status: string; count: bigint }>(
        sql`select status, count(*) from sends group by status`,
      );
      expect(rows).toEqual([{ status: 'REALIZADO', count: 200n }]);
    });
    const lines = await database.db.query<{ kind: string; lines: bigint; orders: bigint }>(sql`
      select kind, count(*) as lines, count(distinct end_to_end_id) as orders
      from journal group by kind order by kind`);
    expect(lines).toEqual([
      { kind: 'sent', lines: 200n, orders: 200n },
      { kind: 'settled', lines: 200n, orders: 200n },
    ]);
    const [moments] = await database.db.query<{ count: bigint }>(
      sql`select count(distinct settled_at) as count from sends`,
    );
    expect(Number(moments?.count)).toBeLessThanOrEqual(2);
  });

  it('settle once where two processes share the work', async () => {
    await using second = await startTestSimulator(database.url);
    expect(second.url).not.toBe(simulator.url);
    await sendMany(100);
    await eventually(async () => {
      const rows = await database.db.query(sql`select from sends where status = 'REALIZADO'`);
      expect(rows).toHaveLength(100);
    });
    const settled = await database.db.query(sql`select from journal where kind = 'settled'`);
    expect(settled).toHaveLength(100);
  });
});
