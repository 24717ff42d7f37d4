import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { callOwner } from '@pixmesh/testkit/mesh-calls';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { anApplication } from '#test/an-application.ts';
import { readStoredDeliveries } from '#test/stored-deliveries.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';
import { sealingKeys, testConfig, testEnvironment } from '#test/test-dispatcher.ts';

import { startWebhookDispatcher, type WebhookDispatcher } from '../service.ts';

const ENDPOINTS = 100;
/** Of so many endpoints, what one batch fans out at once. */
const SHARE = 9;
const OWN = 'http://own.receiver.example.com/hook';

let database: TestDatabase;
let dispatcher: WebhookDispatcher;

beforeAll(async () => {
  const { topicPrefix } = await createTestTopics();
  database = await createTestDatabase('webhook_dispatcher');
  const databaseUrl = database.url;
  const env = testEnvironment({ databaseUrl, topicPrefix, receiverPort: 1 });
  dispatcher = await startWebhookDispatcher(testConfig({ ...env, ROLES: 'api,intake' }));
});
afterAll(async () => {
  await dispatcher[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** A merchant of a hundred endpoints, of whose events so many are set aside. */
async function aMerchantBehind(setAside: number) {
  const { owner, anEvent } = anApplication();
  for (let count = 0; count < ENDPOINTS; count += 1) await storeEndpoint(database.db, owner);
  const secret = { clear: 'whsec_test_0001', publicKey: sealingKeys.publicKey };
  const events = Array.from({ length: SHARE + setAside }, () => anEvent({ url: OWN, secret }));
  return { owner, events };
}

async function countOf(events: readonly { event_id: string }[]): Promise<number[]> {
  return await Promise.all(
    events.map(async ({ event_id }) => (await readStoredDeliveries(database.db, event_id)).length),
  );
}

async function isSetAside({ event_id }: { event_id: string }): Promise<boolean> {
  const rows = await database.db.query(
    sql`select from set_aside_events where event_id = ${event_id}`,
  );
  return rows.length > 0;
}

/** The database refuses the event, until what this answers is disposed. */
async function refuse({ event_id }: { event_id: string }): Promise<AsyncDisposable> {
  const admin = createPool({ url: database.adminUrl, applicationName: 'test' });
  await admin.query(sql`create table refused (id uuid)`);
  await admin.query(sql`insert into refused values (${event_id})`);
  await admin.query(sql`
    create function refuse() returns trigger language plpgsql security definer
    as 'begin
      if exists (select from public.refused where id = new.event_id) then raise exception $text$it quotes the row$text$; end if;
      return new;
    end'`);
  await admin.query(sql`
    create trigger refuse before insert on webhook_dispatcher.events for each row execute function refuse()`);
  return {
    [Symbol.asyncDispose]: async () => {
      await admin.query(sql`drop trigger refuse on webhook_dispatcher.events`);
      await admin.query(sql`drop function refuse()`);
      await admin[Symbol.asyncDispose]();
    },
  };
}

async function call(route: string): Promise<{ status: number; body: unknown }> {
  const target = { owner: 'webhook-dispatcher', url: `https://127.0.0.1:${dispatcher.ports.api}` };
  const answer = await callOwner(target as never, { route, caller: null });
  return { status: answer.status, body: await answer.json() };
}

async function readLetters(status: string) {
  const { body } = await call(`GET /internal/dead-letters?status=${status}`);
  return (body as { data: { id: string }[] }).data;
}

test('an event that is refused when it is fanned out is parked, holds back nobody, and is replayed', async () => {
  const [one, other] = [await aMerchantBehind(15), await aMerchantBehind(5)];
  // Neither the oldest that waits nor alone in its transaction.
  const refused = one.events[SHARE + 4]!;
  const rest = [...one.events, ...other.events].filter((event) => event !== refused);
  const refusal = await refuse(refused);
  await take(database.db, [...one.events, ...other.events]);
  await eventually(async () => {
    expect(await countOf(rest)).toEqual(rest.map(() => ENDPOINTS + 1));
    expect(await isSetAside(refused)).toBe(false);
  }, 60_000);
  const [letter] = await readLetters('open');
  const cause = {
    consumer: CONSUMER_GROUPS.dispatcherIntake.groupId,
    topic: 'charges.events.v1',
    partition: -1,
    offset: '-1',
    key: refused.data.id,
    code: 'MESSAGE_INVALID',
    reason: `event ${refused.event_id} cannot be stored: P0001`,
  };
  expect(letter).toMatchObject(cause);
  const inspected = await call(`GET /internal/dead-letters/${letter!.id}`);
  expect(inspected.body).toMatchObject({ payload: { event_id: refused.event_id } });

  const replay = `POST /internal/dead-letters/${letter!.id}/replay`;
  // Where its account is no longer behind, it is stored at once, and refused.
  await eventually(async () => {
    expect((await call(replay)).status).toBe(409);
    expect(await readLetters('open')).toMatchObject([{ id: letter!.id, ...cause }]);
  });
  await refusal[Symbol.asyncDispose]();
  expect((await call(replay)).body).toMatchObject({ id: letter!.id, replayed: true });
  await eventually(async () => expect(await countOf([refused])).toEqual([ENDPOINTS + 1]));
  expect(await readLetters('open')).toEqual([]);
  const [{ sealed_secret } = { sealed_secret: null }] = await database.db.query<{
    sealed_secret: string | null;
  }>(sql`select sealed_secret from destinations where resource_id = ${refused.data.id}`);
  expect(sealed_secret).toBe(refused.destination?.sealed_secret);
}, 120_000);
