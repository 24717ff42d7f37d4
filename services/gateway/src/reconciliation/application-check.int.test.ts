import {
  COMPARE_APPLICATIONS_PATH,
  COMPARED_APPLICATIONS_MAX,
  type CompareApplicationsBody,
} from '@pixmesh/contracts/internal/compare-applications';
import { TOPICS } from '@pixmesh/contracts/topics';
import { createInternalClient } from '@pixmesh/http/internal-client';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { testIdentity } from '@pixmesh/testkit/mesh-calls';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { answerJson, type FakeOwner, startFakeOwner } from '#test/start-fake-owner.ts';

import { applicationCheck } from './application-check.ts';

let database: TestDatabase;
let dispatcher: FakeOwner;
let behind: string[];
let wakeUps: number;

beforeEach(async () => {
  database = await createTestDatabase('gateway');
  dispatcher = await startFakeOwner('webhook-dispatcher');
  dispatcher.answerWith((response) => answerJson(response, 200, { body: { behind } }));
  behind = [];
  wakeUps = 0;
});
afterEach(async () => {
  await dispatcher[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test('the dispatcher is asked about the version of every application', async () => {
  const ids = [await anApplication(), await anApplication()];
  expect(await run()).toEqual({ compared: 2, breaks: [] });
  expect(dispatcher.requests).toMatchObject([{ method: 'POST', url: COMPARE_APPLICATIONS_PATH }]);
  expect(askedFor()).toEqual([ids.toSorted()]);
});

test('however many changed since the last run, the dispatcher is asked about a bounded number at once', async () => {
  const before = new Date();
  const ids = await manyApplications(1_800);
  expect((await run([], before)).breaks).toEqual([]);
  const asked = askedFor();
  expect([...new Set(asked.flat())].toSorted()).toEqual(ids.toSorted());
  expect(Math.max(...asked.map(({ length }) => length))).toBe(COMPARED_APPLICATIONS_MAX);
});

test('a state that did not arrive from one run to the next is announced again, with a newer version', async () => {
  const id = await anApplication();
  behind = [id];
  expect((await run()).breaks).toEqual([{ kind: 'version', id }]);
  const before = await announcements(id);
  expect(wakeUps).toBe(0);
  await run([id]);
  expect(wakeUps).toBe(1);
  const after = await announcements(id);
  expect(after).toHaveLength(before.length + 1);
  expect(after.at(-1)).toMatchObject({ active: 'true', version: String(after.length) });
});

test('a lost change is announced again with the time of the change, however often', async () => {
  const id = await anApplication();
  for (const active of [false, true]) {
    await database.db.query(
      sql`update applications set active = ${active}, version = version + 1 where id = ${id}`,
    );
  }
  const changedAt = await lastChange(id);
  behind = [id];
  await run([id]);
  await run([id]);
  const [, ...again] = (await announcements(id)).map(({ occurredAt }) => occurredAt);
  expect(again).toEqual([changedAt, changedAt]);
});

/** Ids of the applications of each request. */
function askedFor(): string[][] {
  return dispatcher.requests.map(({ body }) => {
    const { applications } = JSON.parse(body.toString()) as CompareApplicationsBody;
    return applications.map(({ application_id: id }) => id);
  });
}

async function run(knownIds: string[] = [], since: Date | null = null) {
  await using client = createInternalClient({
    service: 'webhook-dispatcher',
    url: dispatcher.url,
    identity: testIdentity('gateway'),
  });
  const wakeOutbox = () => {
    wakeUps += 1;
  };
  const check = applicationCheck({ db: database.db, dispatcher: client, wakeOutbox });
  return await check.run({ since, knownIds, signal: new AbortController().signal });
}

async function anApplication(): Promise<string> {
  const [id] = await manyApplications(1);
  return id!;
}

/** All of one account, with their announcements. */
async function manyApplications(count: number): Promise<string[]> {
  const accountId = newId();
  const ids = Array.from({ length: count }, () => newId());
  await database.db.query(sql`
    insert into accounts (
      id, name, legal_name, document, document_type, phone, status, onboarding_status, auto_payout_enabled,
      payouts_enabled, payout_fee, charge_expires_in, release_delay_seconds, late_payment_policy
    )
    values (
      ${accountId}, 'Loja', 'Loja Ltda', '11222333000181', 'cnpj', '', 'active', 'approved', true,
      true, 0, 3600, 0, 'accept'
    )`);
  await database.db.query(sql`
    insert into applications (id, account_id, name, active, fingerprint)
    select id, ${accountId}, 'Site', true, '' from unnest(${ids}::uuid[]) as id`);
  return ids;
}

async function lastChange(id: string): Promise<string | undefined> {
  const [row] = await database.db.query<{ at: Date }>(
    sql`select active_changed_at as at from applications where id = ${id}`,
  );
  return row?.at.toISOString();
}

async function announcements(
  id: string,
): Promise<{ active: string; version: string; occurredAt: string }[]> {
  return await database.db.query(sql`
    select message->'data'->>'active' as active, message->'data'->>'version' as version,
      message->>'occurred_at' as "occurredAt"
    from events
    join outbox using (event_id)
    where topic = ${TOPICS.accountsEvents} and message->>'application_id' = ${id}
    order by event_id`);
}
