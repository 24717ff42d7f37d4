import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { aCaller } from '@pixmesh/testkit/test-callers';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  type ChargesUnderTest,
  type Json,
  startChargesUnderTest,
} from '#test/charges-under-test.ts';
import { ledgerCommands } from '#test/ledger-peer.ts';

import { pruneNotices } from './pix-notices.sql.ts';

let charges: ChargesUnderTest;

beforeAll(async () => {
  charges = await startChargesUnderTest();
});
afterAll(async () => {
  await charges[Symbol.asyncDispose]();
});

const ITEMS = scaled(200, 100_000);
const AT_ONCE = 50;

test(
  'fuzzed callbacks have no effect and do not delay real money',
  async () => {
    const caller = { ...aCaller(), creation_id: newId() };
    await charges.request(caller, 'POST /v1/charges', {
      amount: 2_000,
      customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
    });
    const id = caller.creation_id;
    const value = fc.oneof(
      fc.array(fc.nat(0x2_ff), { maxLength: 70 }).map((codes) => String.fromCharCode(...codes)),
      fc.stringMatching(/^E[0-9A-Za-z]{1,31}$/),
      fc.constantFrom(toAcquirerId(id), toAcquirerId(newId()), null, 7, true, '', 'E'.repeat(65)),
      fc.jsonValue({ maxDepth: 1 }),
    );
    const item = fc.dictionary(
      fc.oneof(fc.constantFrom('endToEndId', 'txid', 'valor', 'chave'), fc.string()),
      value,
    );
    const items = fc.sample(item, { numRuns: ITEMS, seed: testSeed() });
    for (let sent = 0; sent < items.length; sent += AT_ONCE) {
      await Promise.all(items.slice(sent, sent + AT_ONCE).map((one) => charges.announceItem(one)));
    }
    const path = `/control/charges/${toAcquirerId(id)}/pay`;
    const paid = (await charges.simulator.control('POST', path, {})) as Json;
    await charges.announceItem({ txid: toAcquirerId(id), endToEndId: paid.end_to_end_id });
    const commands = await eventually(async () => {
      const all = await ledgerCommands(charges.db);
      expect(all).toHaveLength(1);
      return all;
    }, 60_000);
    expect(commands[0]?.message.data.end_to_end_id).toBe(paid.end_to_end_id);
    expect(await charges.db.query(sql`select code from dead_letters`)).toEqual([]);
    expect(await charges.db.query(sql`select end_to_end_id from received_pix`)).toHaveLength(1);
    const [notices] = await charges.db.query<{ count: number; effects: number }>(sql`
      select count(*)::int as count,
        (count(*) filter (where outcome not in ('not_found', 'of_charge')))::int as effects
      from pix_notices`);
    expect(notices?.count).toBeLessThanOrEqual(ITEMS);
    expect(notices?.effects).toBe(0);
  },
  scaled(120_000, 1_800_000),
);

test('what was checked is deleted after a while, what waits is not', async () => {
  const idle = 'infinity';
  await charges.db.query(sql`delete from pix_notices`);
  await charges.db.query(sql`
    insert into pix_notices (end_to_end_id, outcome, done_at, check_at)
    values
      ('E-old', 'not_found', now() - interval '2 hours', null),
      ('E-new', 'not_found', now(), null),
      ('E-waiting', null, null, ${idle}::timestamptz)`);
  expect(await pruneNotices(charges.db, { olderThanMs: 3_600_000, limit: 10 })).toBe(1);
  const left = await charges.db.query<{ end_to_end_id: string }>(
    sql`select end_to_end_id from pix_notices order by end_to_end_id`,
  );
  expect(left.map((row) => row.end_to_end_id)).toEqual(['E-new', 'E-waiting']);
});
