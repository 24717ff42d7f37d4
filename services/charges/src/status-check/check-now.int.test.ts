import { ChargeStatusCheck } from '@pixmesh/contracts/internal/operator-charges';
import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { type ChargesUnderTest, startChargesUnderTest } from '#test/charges-under-test.ts';

/** Nothing is checked but what a test asks for. */
const RARELY = {
  READ_BACK_PENDING_MS: '600000',
  READ_BACK_PENDING_MS_MAX: '600000',
  READ_BACK_PROCESSING_MS: '600000',
  READ_BACK_PROCESSING_MS_MAX: '600000',
};

let charges: ChargesUnderTest;

beforeAll(async () => {
  charges = await startChargesUnderTest(RARELY);
});
afterEach(async () => {
  await charges.simulator.control('DELETE', '/control/faults');
});
afterAll(() => charges[Symbol.asyncDispose]());

async function faults(...rules: object[]): Promise<void> {
  await charges.simulator.control('PUT', '/control/faults', { seed: 1, rules });
}

async function create() {
  const caller = { ...aCaller(), creation_id: newId() };
  const body = {
    amount: 2_000,
    customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
  };
  const { status } = await charges.request(caller, 'POST /v1/charges', body);
  return { id: caller.creation_id, status };
}

async function check(id: string, headers: Record<string, string> = {}) {
  const body = { operator_id: newId() };
  return await charges.request(null, `POST /internal/charges/${id}/check`, body, headers);
}

async function show(id: string) {
  return (await charges.request(null, `GET /internal/charges/${id}`)).body;
}

/** Counts how often one charge is to be leased from now on, whether it can be or not. */
async function countLeaseTries(owner: Database): Promise<() => Promise<number>> {
  await owner.query(sql`create table lease_tries (at timestamptz not null)`);
  await owner.query(sql`
    create function count_lease_try() returns trigger language plpgsql security definer as $count$
    begin
      if current_query() like '%lease_token = $%where id = $%' then
        insert into public.lease_tries values (now());
      end if;
      return null;
    end $count$`);
  await owner.query(sql`
    create trigger count_lease_try before update on charges.charges
    for each statement execute function count_lease_try()`);
  return async () => (await owner.query(sql`select from lease_tries`)).length;
}

async function findWaitingReads(): Promise<unknown[]> {
  return await charges.db.query(sql`
    select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%from charges where id = %'`);
}

const FOUND = { reachable: true, answer: 'found', error: null };

test('a check that an operator asks for applies what the acquirer answers, and says what that was', async () => {
  const { id } = await create();
  await charges.simulator.control('POST', `/control/charges/${toAcquirerId(id)}/pay`, {});
  const answer = await check(id);
  expect(answer.status).toBe(200);
  expect(ChargeStatusCheck.parse(answer.body)).toMatchObject({
    id,
    object: 'status_check',
    checked_at: expect.any(String) as string,
    acquirer: FOUND,
    resource: { id, accepted_end_to_end_id: expect.any(String) as string },
  });
});

test('the last check since the charge changed is shown with it', async () => {
  const { id } = await create();
  expect(await show(id)).toMatchObject({ status_check: { checked_at: null, acquirer: null } });
  const { body } = await check(id);
  const { status_check: shown } = await show(id);
  expect(shown).toEqual(body.resource.status_check);
  expect(shown.acquirer).toEqual(FOUND);
  expect(new Date(shown.next_check_at).getTime()).toBeGreaterThan(Date.now());
});

describe('an acquirer that gives no answer', () => {
  test.each([
    ['resets the connection', { fault: 'reset' }, { reachable: false, error: 'connection' }],
    ['hangs', { fault: 'hang' }, { reachable: false, error: 'timeout' }],
    ['answers garbage', { fault: 'garbage' }, { reachable: true, error: 'unreadable' }],
    ['is down', { fault: 'error_before', status: 503 }, { reachable: true, error: 'status_503' }],
  ])('is named where it %s', async (_what, rule, expected) => {
    const { id } = await create();
    await faults({ operation: 'getCharge', ...rule });
    const answer = await check(id);
    expect(answer.body.acquirer).toEqual({ answer: 'none', ...expected });
    expect(answer.body.resource).toMatchObject({
      status: 'pending',
      status_check: { acquirer: { answer: 'none', ...expected } },
    });
  });

  test('is told apart from one that answers, but does not take the call that issues the charge', async () => {
    await faults({ operation: 'issueCharge', fault: 'error_before', status: 502 });
    const { id, status } = await create();
    expect(status).toBe(500);
    const { body } = await check(id);
    expect(body.acquirer).toEqual({ reachable: true, answer: 'not_found', error: null });
    expect(body.resource).toMatchObject({
      status: 'processing',
      issuing: { unanswered_puts: 1, last_put_error: 'status_502' },
    });
  });
});

test('a charge whose answer got lost is issued by the check', async () => {
  await faults(
    { operation: 'issueCharge', fault: 'error_after', count: 1 },
    { operation: 'getCharge', fault: 'error_before', count: 1 },
  );
  const { id } = await create();
  expect(await show(id)).toMatchObject({ status: 'processing' });
  expect((await check(id)).body).toMatchObject({
    acquirer: FOUND,
    resource: { status: 'pending', issuing: { last_put_error: null } },
  });
});

test('while another check holds the charge, the caller waits no longer than it has, and the job makes the check', async () => {
  const { id } = await create();
  await charges.db.query(sql`
    update charges set lease_token = ${newId()}, lease_until = now() + interval '1 hour' where id = ${id}`);
  const answer = await check(id, { 'x-pixmesh-timeout-ms': '900' });
  expect(answer.body).toMatchObject({ checked_at: null, acquirer: null, resource: { id } });
  const [row] = await charges.db.query<{ requested: boolean }>(
    sql`select check_at = '-infinity' as requested from charges where id = ${id}`,
  );
  expect(row?.requested).toBe(true);
});

test('what a caller waits for the database is part of its time', async () => {
  const { id } = await create();
  await charges.db.query(sql`
    update charges set lease_token = ${newId()}, lease_until = now() + interval '1 hour' where id = ${id}`);
  await using owner = createPool({ url: charges.adminUrl, applicationName: 'owner' });
  const leaseTries = await countLeaseTries(owner);
  const answering = await charges.db.transaction(async (tx) => {
    await tx.query(sql`lock table charges in access exclusive mode`);
    const answer = check(id, { 'x-pixmesh-timeout-ms': '1000' });
    await eventually(async () => expect(await findWaitingReads()).not.toEqual([]));
    const startedMs = performance.now();
    await eventually(() => expect(performance.now() - startedMs).toBeGreaterThan(1_000));
    return { answer };
  });
  expect((await answering.answer).body).toMatchObject({ checked_at: null });
  expect(await leaseTries()).toBe(1);
});

test('checks that operators ask for make later ones no rarer', async () => {
  const { id } = await create();
  await charges.db.query(sql`update charges set checks = 2 where id = ${id}`);
  await check(id);
  await faults({ operation: 'getCharge', fault: 'reset' });
  await check(id);
  expect(await charges.db.query(sql`select checks from charges where id = ${id}`)).toEqual([
    { checks: 2 },
  ]);
});

test.each([newId(), 'nonsense'])(
  'of an unknown charge there is nothing to check: %s',
  async (id) => {
    const answer = await check(id);
    expect([answer.status, answer.body.code]).toEqual([404, 'CHARGE_NOT_FOUND']);
  },
);
