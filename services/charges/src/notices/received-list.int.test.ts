import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  type ChargesUnderTest,
  type Json,
  startChargesUnderTest,
} from '#test/charges-under-test.ts';
import { createLedgerPeer } from '#test/ledger-peer.ts';

let charges: ChargesUnderTest;
let ledger: ReturnType<typeof createLedgerPeer>;

/** Not one callback reaches the service in this file. */
beforeAll(async () => {
  charges = await startChargesUnderTest({
    RECEIVED_LIST_MS: '200',
    RECEIVED_LIST_LATE_MS: '2000',
    RECEIVED_LIST_OVERLAP_MS: '60000',
    ACQUIRER_TIMEOUT_MS: '4000',
  });
  ledger = createLedgerPeer(charges);
});
afterAll(async () => {
  await charges[Symbol.asyncDispose]();
});

const AMOUNT = 2_000;
const CHARGES = scaled(40, 2_000);
const AT_ONCE = 4;
/** After a recovery everything has settled within this. */
const RECOVERY_MS = 60_000;

async function aPendingCharge(): Promise<string> {
  const caller = { ...aCaller(), creation_id: newId() };
  const { status } = await charges.request(caller, 'POST /v1/charges', {
    amount: AMOUNT,
    customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
  });
  expect(status).toBe(201);
  return caller.creation_id;
}

async function pay(id: string): Promise<string> {
  const path = `/control/charges/${toAcquirerId(id)}/pay`;
  return ((await charges.simulator.control('POST', path, {})) as Json).end_to_end_id;
}

async function countOf(status: string, ids: readonly string[]): Promise<number> {
  const [row] = await charges.db.query<{ count: number }>(sql`
    select count(*)::int as count from charges where id = any(${ids}::uuid[]) and status = ${status}`);
  return row?.count ?? 0;
}

async function waitForAll(status: string, ids: readonly string[]): Promise<void> {
  await eventually(async () => {
    await ledger.answerAll();
    expect(await countOf(status, ids)).toBe(ids.length);
  }, RECOVERY_MS);
}

test(
  'after an outage a backlog of Pix without callbacks settles within a minute, each once, and so do their returns',
  async () => {
    const ids: string[] = [];
    for (let made = 0; made < CHARGES; made += AT_ONCE) {
      ids.push(...(await Promise.all(Array.from({ length: AT_ONCE }, aPendingCharge))));
    }
    const rules = ['listReceived', 'getCharge'].map((operation) => ({
      operation,
      fault: 'error_before',
      status: 503,
    }));
    await charges.simulator.control('PUT', '/control/faults', { seed: 1, rules });
    const pix: string[] = [];
    for (const id of ids) pix.push(await pay(id));
    await charges.simulator.control('DELETE', '/control/faults');
    await waitForAll('paid', ids);
    const credits = await charges.db.query(sql`
      select message->'data'->>'end_to_end_id' as id from events where type = 'received_pix.credit'`);
    expect(credits).toHaveLength(ids.length);
    for (const endToEndId of pix) {
      await charges.simulator.control('POST', `/control/pix/${endToEndId}/returns`, {
        natureza: 'ORIGINAL',
      });
    }
    await waitForAll('refunded', ids);
  },
  scaled(120_000, 1_200_000),
);

test('money that names no charge is found, too, and once', async () => {
  const received = (await charges.simulator.control('POST', '/control/pix', {
    amount: 700,
  })) as Json;
  await eventually(async () => {
    expect(
      await charges.db.query(sql`
        select reason from received_pix where end_to_end_id = ${received.end_to_end_id}`),
    ).toEqual([{ reason: 'unowned' }]);
  });
  const path = `/control/pix/${received.end_to_end_id}/returns`;
  await charges.simulator.control('POST', path, { natureza: 'ORIGINAL' });
  await eventually(async () => {
    expect(
      await charges.db.query(sql`
        select disposition from pix_returns where end_to_end_id = ${received.end_to_end_id}`),
    ).toEqual([{ disposition: 'suspense' }]);
  });
});

test('money that names a charge which the acquirer refused is found, too, and so is its return', async () => {
  const caller = { ...aCaller(), creation_id: newId() };
  const rules = [{ operation: 'issueCharge', count: 1, fault: 'refusal', code: 'x', message: 'x' }];
  await charges.simulator.control('PUT', '/control/faults', { seed: 1, rules });
  await charges.request(caller, 'POST /v1/charges', {
    amount: AMOUNT,
    customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
  });
  const pix = { amount: AMOUNT, txid: toAcquirerId(caller.creation_id) };
  const received = (await charges.simulator.control('POST', '/control/pix', pix)) as Json;
  await eventually(async () => {
    expect(
      await charges.db.query(sql`
        select reason, charge_id from received_pix where end_to_end_id = ${received.end_to_end_id}`),
    ).toEqual([{ reason: 'charge_closed', charge_id: caller.creation_id }]);
  });
  // The acquirer knows no such charge, so that its return shows with the Pix alone.
  const path = `/control/pix/${received.end_to_end_id}/returns`;
  await charges.simulator.control('POST', path, { natureza: 'ORIGINAL' });
  await eventually(async () => {
    expect(
      await charges.db.query(sql`
        select disposition, charge_id from pix_returns where end_to_end_id = ${received.end_to_end_id}`),
    ).toEqual([{ disposition: 'suspense', charge_id: caller.creation_id }]);
  });
});

test('what is settled is not checked again and again', async () => {
  const id = await aPendingCharge();
  await pay(id);
  await waitForAll('paid', [id]);
  const [before] = await charges.db.query<{ listed_until: Date }>(
    sql`select listed_until from acquirer_lists where name = 'received'`,
  );
  // Once the last check that its payment caused has ended.
  await eventually(async () => {
    const rested = await charges.db.query(sql`
      update charges set checks = 0 where id = ${id} and check_at is null and lease_token is null returning id`);
    expect(rested).toHaveLength(1);
  });
  await eventually(async () => {
    const [now] = await charges.db.query<{ is_later: boolean }>(sql`
      select listed_until > ${before?.listed_until}::timestamptz + interval '1 second' as is_later
      from acquirer_lists where name = 'received'`);
    expect(now?.is_later).toBe(true);
  });
  expect(
    await charges.db.query(sql`select checks, check_at from charges where id = ${id}`),
  ).toEqual([{ checks: 0, check_at: null }]);
});
