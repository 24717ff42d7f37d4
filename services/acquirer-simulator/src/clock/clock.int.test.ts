import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import {
  aCharge,
  aSend,
  listItems,
  receiveCallbacks,
  startTestSimulator,
  type TestSimulator,
} from '#test/test-simulator.ts';

const HOUR_SECONDS = 3_600;

let database: TestDatabase;
let simulator: TestSimulator;
let acquirer: Acquirer;

beforeEach(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  acquirer = simulator.client();
});

afterEach(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function advance(seconds: number): Promise<void> {
  const { status } = await simulator.call('POST', '/control/clock', { advance_seconds: seconds });
  expect(status).toBe(200);
}

/** Seconds from the real time to what is given, rounded to minutes. */
function aheadBy(text: unknown): number {
  return Math.round((Date.parse(text as string) - Date.now()) / 60_000) * 60;
}

describe('the clock', () => {
  it('shows the real time until it is moved, goes both ways, and returns', async () => {
    expect((await simulator.call('GET', '/control/clock')).body).toMatchObject({
      offset_seconds: 0,
    });
    await advance(2 * HOUR_SECONDS);
    await advance(-3 * HOUR_SECONDS);
    const { body } = await simulator.call('GET', '/control/clock');
    expect(body['offset_seconds']).toBe(-HOUR_SECONDS);
    expect(aheadBy(body['now'])).toBe(-HOUR_SECONDS);
    const reset = await simulator.call('POST', '/control/clock', { reset: true });
    expect(reset.body).toMatchObject({ offset_seconds: 0 });
    await advance(60);
    const deleted = await simulator.call('DELETE', '/control/clock');
    expect(deleted.body).toMatchObject({ offset_seconds: 0 });
  });

  it('survives a restart', async () => {
    await advance(HOUR_SECONDS);
    await simulator[Symbol.asyncDispose]();
    simulator = await startTestSimulator(database.url);
    const { body } = await simulator.call('GET', '/control/clock');
    expect(body).toMatchObject({ offset_seconds: HOUR_SECONDS });
    expect(aheadBy(body['now'])).toBe(HOUR_SECONDS);
  });

  it.each([{}, { advance_seconds: 1.5 }, { advance_seconds: 1, reset: true }, { reset: false }])(
    'refuses %j',
    async (body) => {
      expect((await simulator.call('POST', '/control/clock', body)).status).toBe(400);
    },
  );

  it('does not go further than ten years', async () => {
    const tooFar = { advance_seconds: 400_000_000 };
    expect((await simulator.call('POST', '/control/clock', tooFar)).status).toBe(409);
    expect((await simulator.call('GET', '/control/clock')).body).toMatchObject({
      offset_seconds: 0,
    });
  });

  it('dates everything that a client of the provider sees', async () => {
    await advance(25 * HOUR_SECONDS);
    const { txid } = aCharge();
    await acquirer.issueCharge(aCharge({ txid }));
    const paid = await simulator.call('POST', `/control/charges/${txid}/pay`);
    expect(aheadBy(paid.body['paid_at'])).toBe(25 * HOUR_SECONDS);
    const send = aSend();
    await acquirer.sendPayout(send);
    await eventually(async () => {
      expect(await acquirer.getPayout(send.idEnvio)).toMatchObject({
        kind: 'found',
        value: { status: 'settled' },
      });
    });
    const { body } = await simulator.call('GET', '/control/journal');
    const entries = body['data'] as { kind: string; at: string }[];
    expect(entries.map(({ kind }) => kind)).toEqual(['issued', 'paid', 'sent', 'settled']);
    for (const { at } of entries) expect(aheadBy(at)).toBe(25 * HOUR_SECONDS);
  });

  it('lets a charge expire, and come back to life', async () => {
    const { txid } = aCharge();
    await acquirer.issueCharge(aCharge({ txid, expiresInSeconds: HOUR_SECONDS }));
    await advance(HOUR_SECONDS + 1);
    const late = await simulator.call('POST', `/control/charges/${txid}/pay`);
    expect(late.status).toBe(409);
    await advance(-HOUR_SECONDS);
    const paid = await simulator.call('POST', `/control/charges/${txid}/pay`);
    expect(paid.status).toBe(200);
  });

  it('does at once what a jump makes due', async () => {
    const rules = [{ operation: 'settlePayout', fault: 'latency', delay_ms: 600_000 }];
    await simulator.call('PUT', '/control/faults', { rules });
    const sends = Array.from({ length: 20 }, () => aSend());
    for (const send of sends) await acquirer.sendPayout(send);
    await receiveCallbacks(simulator);
    await advance(HOUR_SECONDS);
    await eventually(async () => expect(await listItems(simulator)).toHaveLength(20));
  });

  it('does not make wait longer what waits when it is turned back', async () => {
    const rules = [{ operation: 'settlePayout', fault: 'latency', delay_ms: 300 }];
    await simulator.call('PUT', '/control/faults', { rules });
    const send = aSend();
    await acquirer.sendPayout(send);
    await advance(-HOUR_SECONDS);
    await eventually(async () => {
      expect(await acquirer.getPayout(send.idEnvio)).toMatchObject({
        kind: 'found',
        value: { status: 'settled' },
      });
    });
  });

  it('leaves tokens and attempts at callbacks alone', async () => {
    await simulator.call('PUT', '/receiver/behaviour/callbacks/pix', { status: 500, times: 2 });
    await receiveCallbacks(simulator);
    const { txid } = aCharge();
    await acquirer.issueCharge(aCharge({ txid }));
    await advance(-HOUR_SECONDS);
    await simulator.call('POST', `/control/charges/${txid}/pay`);
    await advance(9 * HOUR_SECONDS);
    await eventually(async () => {
      const rows = await database.db.query(sql`select from callbacks`);
      expect(rows).toEqual([]);
    });
    expect(await listItems(simulator)).toHaveLength(3);
    expect(await acquirer.getCharge(txid)).toMatchObject({ kind: 'found' });
  });
});
