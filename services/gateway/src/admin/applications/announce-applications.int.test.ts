import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { ApplicationChanged } from '@pixmesh/contracts/messages/account-event.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import { newId } from '@pixmesh/kernel/ids';
import { migrateSchema } from '@pixmesh/postgres/migrate';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { followTopic } from '@pixmesh/testkit/read-topic';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { TEST_PASSWORD } from '@pixmesh/testkit/test-infra';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestGateway, type TestGateway } from '#testing/start-test-gateway.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../migrations', import.meta.url));
const VERSIONING = '0006_application_versions.sql';

let gateway: TestGateway;
let topic: ReturnType<typeof followTopic>;
let accountId: string;

beforeAll(async () => {
  const { topicPrefix } = await createTestTopics();
  gateway = await startTestGateway({ KAFKA_TOPIC_PREFIX: topicPrefix });
  topic = followTopic(topicPrefix, TOPICS.accountsEvents);
  ({ accountId } = await gateway.createTenant());
});
afterAll(async () => {
  await topic[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

type Announced = { active: boolean; version: number };

/** What `events` keeps about an application, oldest first. */
async function announced(applicationId: string): Promise<Announced[]> {
  const rows = await gateway.database.db.query<{ key: string; data: Announced }>(sql`
    select key, message -> 'data' as data
    from events
    where type = 'application.changed' and message ->> 'application_id' = ${applicationId}
    order by event_id`);
  expect(rows.every(({ key }) => key === accountId)).toBe(true);
  return rows.map(({ data: { active, version } }) => ({ active, version }));
}

async function create(body: object, headers: string[] = []): Promise<string> {
  const route = `/admin/accounts/${accountId}/applications`;
  const answer = await gateway.admin('POST', route, { body, headers });
  expect(answer.status).toBe(201);
  return String(answer.json['id']);
}

async function patch(id: string, body: object): Promise<number> {
  return (await gateway.admin('PATCH', `/admin/applications/${id}`, { body })).status;
}

describe('an application', () => {
  test('is announced when it is made, and each time that it is deactivated or activated', async () => {
    const id = await create({ name: 'shop' });
    for (const active of [false, true]) expect(await patch(id, { active })).toBe(200);
    const states = [
      { active: true, version: 1 },
      { active: false, version: 2 },
      { active: true, version: 3 },
    ];
    expect(await announced(id)).toEqual(states);
    const published = await eventually(() => {
      const messages = topic.messages.filter(({ value }) => isAbout(value, id));
      expect(messages).toHaveLength(states.length);
      return messages;
    });
    for (const [index, message] of published.entries()) {
      expect(message).toMatchObject({
        key: accountId,
        headers: { type: 'application.changed' },
        value: { account_id: accountId, data: { application_id: id, ...states[index] } },
      });
    }
  });

  test('that is made inactive is announced so', async () => {
    const id = await create({ name: 'later', active: false });
    expect(await announced(id)).toEqual([{ active: false, version: 1 }]);
  });

  test('is not announced again by what changes nothing that others follow', async () => {
    const id = await create({ name: 'shop' });
    for (const body of [{}, { active: true }, { active: null }, { name: 'site' }]) {
      expect(await patch(id, body)).toBe(200);
    }
    expect(await patch(id, { active: false })).toBe(200);
    expect(await patch(id, { active: false, name: 'closed' })).toBe(200);
    expect(await announced(id)).toEqual([
      { active: true, version: 1 },
      { active: false, version: 2 },
    ]);
  });

  test('is announced once, however often the same key asks for it', async () => {
    const headers = ['Idempotency-Key', 'announced-0001'];
    const ids = await Promise.all(
      Array.from({ length: 8 }, () => create({ name: 'race' }, headers)),
    );
    expect(new Set(ids).size).toBe(1);
    expect(await announced(ids[0]!)).toEqual([{ active: true, version: 1 }]);
  });

  test('has each version once and in order, also when it is changed from two sides at once', async () => {
    const id = await create({ name: 'contended' });
    await Promise.all(Array.from({ length: 12 }, (_, turn) => patch(id, { active: turn % 2 > 0 })));
    const states = await announced(id);
    expect(states.map(({ version }) => version)).toEqual(states.map((_, index) => index + 1));
    for (const [index, { active }] of states.entries()) expect(active).toBe(index % 2 === 0);
    const rows = await gateway.database.db.query(
      sql`select active, version from applications where id = ${id}`,
    );
    expect(rows).toEqual([states.at(-1)]);
  });

  test('is neither changed nor announced where the change cannot be audited', async () => {
    const id = await create({ name: 'unaudited' });
    await using owner = createPool({ url: gateway.database.adminUrl, applicationName: 'test' });
    await owner.query(sql`
      alter table gateway.audit_log
      add constraint refused check (action <> 'application.updated') not valid`);
    try {
      expect(await patch(id, { active: false })).toBe(500);
    } finally {
      await owner.query(sql`alter table gateway.audit_log drop constraint refused`);
    }
    expect(await announced(id)).toEqual([{ active: true, version: 1 }]);
    expect(await patch(id, { active: false })).toBe(200);
    expect(await announced(id)).toHaveLength(2);
  });
});

test('applications that were deactivated before are announced by the migration, others are not', async () => {
  await using own = await createTestDatabase('gateway');
  await using owner = createPool({ url: own.adminUrl, applicationName: 'test', max: 1 });
  const dir = mkdtempSync(path.join(tmpdir(), 'pixmesh-applications-'));
  try {
    const before = readdirSync(MIGRATIONS).filter((name) => name < VERSIONING);
    for (const name of before) cpSync(path.join(MIGRATIONS, name), path.join(dir, name));
    await owner.query(sql`drop schema gateway cascade`);
    const job = { adminUrl: own.adminUrl, schema: 'gateway', password: TEST_PASSWORD };
    await migrateSchema({ ...job, migrationsDir: dir, mechanisms: ['outbox'] });
    const [account, open, closed] = [newId(), newId(), newId()];
    await own.db.query(sql`
      with account as (
        insert into accounts
        select
          ${account}, 'Loja', 'Loja Ltda', '11444777000161', 'cnpj', '', 'active', 'pending', false, true, 0,
          86400, 0, 'accept', now()
        returning id
      )
      insert into applications (id, account_id, name, active, fingerprint)
      select application.id, account.id, 'shop', application.active, ''
      from account, (values (${open}::uuid, true), (${closed}::uuid, false)) as application (id, active)`);
    // Said twice, as deploy jobs are.
    for (let run = 0; run < 2; run += 1) {
      await migrateSchema({ ...job, migrationsDir: MIGRATIONS, mechanisms: ['outbox'] });
    }
    const queued = await own.db.query<{ message: object; place: object }>(sql`
      select message, json_build_object('topic', topic, 'key', key, 'type', type) as place
      from outbox
      join events using (event_id)`);
    expect(queued).toHaveLength(1);
    const { topic: name, type } = ApplicationChanged;
    expect(queued[0]?.place).toEqual({ topic: name, key: account, type });
    expect(ApplicationChanged.schema.parse(queued[0]?.message)).toMatchObject({
      account_id: account,
      data: { application_id: closed, active: false, version: 1 },
    });
  } finally {
    rmSync(dir, { recursive: true });
  }
});

function isAbout(value: unknown, applicationId: string): boolean {
  return (value as { application_id?: unknown }).application_id === applicationId;
}
