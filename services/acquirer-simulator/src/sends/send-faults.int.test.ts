import type { Acquirer, ListWindow } from '@pixmesh/acquirer/acquirer';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import {
  aSend,
  journalOfSend,
  startTestSimulator,
  type TestSimulator,
} from '#test/test-simulator.ts';

/** Deadline of a client that meets a fault without an answer. */
const HASTY_MS = 300;

let database: TestDatabase;
let simulator: TestSimulator;
let acquirer: Acquirer;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
});

/** A client per test: the breaker of one that has met faults would keep the next from its call. */
beforeEach(() => {
  acquirer = simulator.client();
});

afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

afterEach(async () => {
  await simulator.call('DELETE', '/control/faults');
});

async function fault(...rules: object[]): Promise<void> {
  const { status } = await simulator.call('PUT', '/control/faults', { seed: 1, rules });
  expect(status).toBe(200);
}

/** A window that ends before anything happens, so that its pages stay what they are. */
const WINDOW: ListWindow = { from: new Date('2020-01-01'), to: new Date('2020-01-02'), page: 0 };

const READS = [
  ['getPayout', (client: Acquirer) => client.getPayout('nobody'), 'not_found'],
  ['listSent', (client: Acquirer) => client.listSent(WINDOW), 'page'],
  ['listReceived', (client: Acquirer) => client.listReceived(WINDOW), 'page'],
  ['balance', (client: Acquirer) => client.balance(), 'found'],
] as const;

const FAULTS = [
  ['refusal', {}, 'status_400'],
  ['refusal', { status: 401 }, 'status_401'],
  ['refusal', { status: 403 }, 'status_403'],
  ['refusal', { status: 404 }, 'status_404'],
  ['refusal', { status: 422 }, 'status_422'],
  ['refusal', { status: 429 }, 'status_429'],
  ['error_before', {}, 'status_500'],
  ['error_before', { status: 503 }, 'status_503'],
  ['error_after', {}, 'status_500'],
  ['error_after', { status: 404 }, 'status_404'],
  ['garbage', {}, 'unreadable'],
  ['garbage', { status: 502 }, 'status_502'],
  ['reset', {}, 'connection'],
  ['hang', {}, 'timeout'],
  ['hang', { delay_ms: 20 }, 'connection'],
  ['latency', { delay_ms: 60_000 }, 'timeout'],
] as const;

const matrix = READS.flatMap(([operation, read, well]) =>
  FAULTS.map(([name, more, cause]) => ({ operation, read, well, name, more, cause })),
);

describe('a read of the client', () => {
  it.each(matrix)(
    '$operation after $name $more is unknown ($cause), and well again afterwards',
    async ({ operation, read, well, name, more, cause }) => {
      await using client = simulator.client(cause === 'timeout' ? { timeoutMs: HASTY_MS } : {});
      await fault({ operation, fault: name, ...more });
      expect(await read(client)).toEqual({ kind: 'unknown', cause });
      await simulator.call('DELETE', '/control/faults');
      expect(await read(client)).toMatchObject({ kind: well });
    },
  );

  it.each(READS)('%s that is only slow has its outcome', async (operation, read, well) => {
    await fault({ operation, fault: 'latency', delay_ms: 50 });
    expect(await read(acquirer)).toMatchObject({ kind: well });
  });

  it.each(READS)('%s gets over one refused token', async (operation, read, well) => {
    await fault({ operation, fault: 'refusal', status: 401, count: 1 });
    expect(await read(acquirer)).toMatchObject({ kind: well });
  });

  it.each(READS)('%s leaves the faults of others alone', async (operation, read, well) => {
    const others = READS.filter(([other]) => other !== operation);
    await fault(...others.map(([other]) => ({ operation: other, fault: 'reset' })));
    expect(await read(acquirer)).toMatchObject({ kind: well });
  });
});

describe('an order', () => {
  it('is never sent twice by the client, even after a refused token', async () => {
    await fault({ operation: 'sendPayout', fault: 'refusal', status: 401, count: 1 });
    const send = aSend();
    expect(await acquirer.sendPayout(send)).toEqual({ kind: 'unknown', cause: 'status_401' });
    expect(await acquirer.getPayout(send.idEnvio)).toEqual({ kind: 'not_found' });
  });

  it('is unsent without a token', async () => {
    await using fresh = simulator.client();
    await fault({ operation: 'token', fault: 'error_before', count: 1 });
    const send = aSend();
    expect(await fresh.sendPayout(send)).toEqual({ kind: 'unknown', cause: 'token_status_500' });
    expect(await journalOfSend(simulator, send.idEnvio)).toEqual([]);
    expect(await fresh.sendPayout(send)).toMatchObject({ kind: 'accepted' });
  });

  it('settles where nobody has registered a callback, and leaves no notice', async () => {
    const send = aSend();
    await acquirer.sendPayout(send);
    await eventually(async () => {
      expect(await acquirer.getPayout(send.idEnvio)).toMatchObject({
        value: { status: 'settled' },
      });
    });
    expect(await database.db.query(sql`select from callbacks`)).toEqual([]);
  });

  it('that is held is released by any script that holds nothing', async () => {
    const send = aSend();
    await fault({ operation: 'settlePayout', fault: 'hang' });
    await acquirer.sendPayout(send);
    await fault({ operation: 'settlePayout', fault: 'hang', count: 0 });
    const held = await database.db.query(sql`select from sends where held`);
    expect(held).toHaveLength(1);
    await fault({ operation: 'getCharge', fault: 'hang' });
    await eventually(async () => {
      expect(await acquirer.getPayout(send.idEnvio)).toMatchObject({
        value: { status: 'settled' },
      });
    });
  });

  it('draws the same fate for the same seed', async () => {
    const rule = { operation: 'settlePayout', fault: 'refusal', probability: 0.5 };
    const fates: string[][] = [];
    for (let round = 0; round < 2; round += 1) {
      await fault(rule);
      const sends = Array.from({ length: 12 }, () => aSend());
      for (const send of sends) await acquirer.sendPayout(send);
      const ends = await eventually(async () => {
        const lines = await Promise.all(
          sends.map(({ idEnvio }) => journalOfSend(simulator, idEnvio)),
        );
        const kinds = lines.map((of) => of[1]?.kind ?? 'open');
        expect(kinds).not.toContain('open');
        return kinds;
      });
      fates.push(ends);
    }
    expect(fates[0]).toEqual(fates[1]);
    expect(new Set(fates[0])).toEqual(new Set(['settled', 'rejected']));
  });
});
