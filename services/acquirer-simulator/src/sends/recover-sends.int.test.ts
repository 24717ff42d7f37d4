import type { Acquirer, PayoutToSend } from '@pixmesh/acquirer/acquirer';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  aSend,
  listItems,
  receiveCallbacks,
  startTestSimulator,
  type TestSimulator,
} from '#test/test-simulator.ts';

const ORDERS = 120;
const TRIES_MAX = 60;
/** Shorter than the latency of the script, so that answers are lost. */
const HASTY_MS = 250;

let database: TestDatabase;
let simulator: TestSimulator;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  await receiveCallbacks(simulator);
});

afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/**
 * The recovery rule: after any doubt look the order up, and send it again only where it is not there. Every order
 * has a client of its own, or the breaker of one would keep it from a line that is bad on purpose.
 */
async function sendUntilKnown(send: PayoutToSend): Promise<string> {
  const acquirer = simulator.client({ timeoutMs: HASTY_MS });
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const outcome = await acquirer.sendPayout(send);
    if (outcome.kind !== 'unknown') return outcome.kind;
    const lookup = await lookUp(acquirer, send.idEnvio);
    if (lookup === 'found') return 'accepted';
  }
  return 'given up';
}

/** However long its breaker keeps it from calling. */
async function lookUp(acquirer: Acquirer, idEnvio: string): Promise<'found' | 'not_found'> {
  return await eventually(async () => {
    const { kind } = await acquirer.getPayout(idEnvio);
    if (kind === 'unknown') throw new Error('the look-up has no outcome yet');
    return kind;
  }, 30_000);
}

async function linesByKind(): Promise<Map<string, [lines: number, orders: number]>> {
  const rows = await database.db.query<{ kind: string; lines: bigint; orders: bigint }>(sql`
    select kind, count(*) as lines, count(distinct id_envio) as orders
    from journal
    group by kind`);
  return new Map(rows.map(({ kind, lines, orders }) => [kind, [Number(lines), Number(orders)]]));
}

describe('orders over a bad line', () => {
  it('are each made once and end once, however often they are repeated', async () => {
    const rules = [
      { operation: 'sendPayout', fault: 'error_before', probability: 0.15 },
      { operation: 'sendPayout', fault: 'error_after', probability: 0.2 },
      { operation: 'sendPayout', fault: 'reset', probability: 0.1 },
      { operation: 'sendPayout', fault: 'garbage', probability: 0.1 },
      { operation: 'sendPayout', fault: 'latency', probability: 0.1, delay_ms: 2 * HASTY_MS },
      { operation: 'getPayout', fault: 'error_before', probability: 0.2, status: 503 },
      { operation: 'getPayout', fault: 'garbage', probability: 0.1 },
      { operation: 'settlePayout', fault: 'refusal', probability: 0.3 },
      { operation: 'settlePayout', fault: 'latency', probability: 0.2, delay_ms: 300 },
      { operation: 'callback', fault: 'duplicate', probability: 0.3 },
      { operation: 'callback', fault: 'drop', probability: 0.2 },
      { operation: 'callback', fault: 'reorder', probability: 0.1, delay_ms: 200 },
    ];
    const put = await simulator.call('PUT', '/control/faults', { seed: 'bad line', rules });
    expect(put.status).toBe(200);
    const sends = Array.from({ length: ORDERS }, () => aSend());
    const outcomes: string[] = [];
    for (let from = 0; from < ORDERS; from += 10) {
      outcomes.push(...(await Promise.all(sends.slice(from, from + 10).map(sendUntilKnown))));
    }
    expect(new Set(outcomes)).toEqual(new Set(['accepted']));
    await simulator.call('DELETE', '/control/faults');
    await eventually(async () => {
      const open = await database.db.query(sql`select from sends where due_at is not null`);
      expect(open).toEqual([]);
    });
    const lines = await linesByKind();
    expect(lines.get('sent')).toEqual([ORDERS, ORDERS]);
    expect(lines.has('refused')).toBe(false);
    const [settled = 0] = lines.get('settled') ?? [];
    const [rejected = 0] = lines.get('rejected') ?? [];
    expect(settled + rejected).toBe(ORDERS);
    expect(Math.min(settled, rejected)).toBeGreaterThan(0);
    await expectMatchingNotices(sends);
  }, 60_000);
});

/** Some are dropped, some come twice; none says anything but what the look-up says. */
async function expectMatchingNotices(sends: readonly PayoutToSend[]): Promise<void> {
  await eventually(async () => {
    expect(await database.db.query(sql`select from callbacks`)).toEqual([]);
  });
  const reader = simulator.client();
  const statuses = new Map<unknown, string>();
  for (const { idEnvio } of sends) {
    const found = await reader.getPayout(idEnvio);
    if (found.kind === 'found') statuses.set(idEnvio, found.value.status);
  }
  expect(statuses.size).toBe(sends.length);
  const items = await listItems(simulator);
  expect(items.length).toBeGreaterThan(0);
  for (const { status, gnExtras } of items) {
    const { idEnvio, erro } = gnExtras as { idEnvio: string; erro?: object };
    expect(statuses.get(idEnvio)).toBe(status === 'REALIZADO' ? 'settled' : 'rejected');
    expect(erro === undefined).toBe(status === 'REALIZADO');
  }
}
