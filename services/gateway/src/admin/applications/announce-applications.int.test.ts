import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { ApplicationChanged } from '@pixmesh/contracts/messages/account-event.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import { appendEvents } from '@pixmesh/postgres/events';
import { migrateSchema } from '@pixmesh/postgres/migrate';
import { createPool } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { followTopic } from '@pixmesh/testkit/read-topic';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { TEST_PASSWORD } from '@pixmesh/testkit/test-infra';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

import { buildApplicationChanged } from './build-application-changed.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../migrations', import.meta.url));

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

/** The same in the order of its publication: ids that the database and this gateway make in one millisecond have none. */
async function published(applicationId: string): Promise<Announced[]> {
  const changes = (await announced(applicationId)).length;
  return await eventually(() => {
    const messages = topic.messages.filter(({ value }) => isAbout(value, applicationId));
    expect(messages).toHaveLength(changes);
    return messages.map(({ value }) => {
      const { active, version } = ApplicationChanged.schema.parse(value).data;
      return { active, version };
    });
  });
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
    const states = await published(id);
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

/** As gateways before versions wrote, and whoever writes by hand. */
describe('an application that is changed without a word of its version', () => {
  const write = (statement: Statement) => gateway.database.db.query(statement);

  test('is announced by the database, and published', async () => {
    const id = await create({ name: 'shop' });
    for (const active of [false, true]) {
      await write(sql`update applications set name = 'old', active = ${active} where id = ${id}`);
    }
    expect(await patch(id, { active: false })).toBe(200);
    expect(await announced(id)).toEqual([
      { active: true, version: 1 },
      { active: false, version: 2 },
      { active: true, version: 3 },
      { active: false, version: 4 },
    ]);
    await eventually(() => {
      const messages = topic.messages.filter(({ value }) => isAbout(value, id));
      expect(messages.map(({ value }) => ApplicationChanged.schema.parse(value).data)).toEqual([
        { application_id: id, active: true, version: 1 },
        { application_id: id, active: false, version: 2 },
        { application_id: id, active: true, version: 3 },
        { application_id: id, active: false, version: 4 },
      ]);
    });
  });

  test.each([true, false])('is announced where it is made so, active %s', async (active) => {
    const id = newId();
    for (let run = 0; run < 2; run += 1) {
      await write(sql`
        insert into applications (id, account_id, name, active, fingerprint)
        values (${id}, ${accountId}, 'old', ${active}, '')
        on conflict on constraint applications_pkey do nothing`);
    }
    expect(await announced(id)).toEqual([{ active, version: 1 }]);
  });

  test('is not announced by a rename, a repeat, or a change that did not commit', async () => {
    const id = await create({ name: 'shop' });
    await write(sql`update applications set name = 'old', active = true where id = ${id}`);
    const undone = gateway.database.db.transaction(async (tx) => {
      await tx.query(sql`update applications set active = false where id = ${id}`);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await announced(id)).toEqual([{ active: true, version: 1 }]);
  });

  test('is announced in order with what this gateway changes at the same time', async () => {
    const id = await create({ name: 'contended' });
    await Promise.all(
      Array.from({ length: 12 }, (_, turn) =>
        turn % 2 > 0
          ? patch(id, { active: turn % 4 > 1 })
          : write(sql`update applications set active = ${turn % 4 > 1} where id = ${id}`),
      ),
    );
    const states = await published(id);
    expect(states.map(({ version }) => version)).toEqual(states.map((_, index) => index + 1));
    const rows = await write(sql`select active, version from applications where id = ${id}`);
    expect(rows).toEqual([states.at(-1)]);
  });
});

describe('the migrations', () => {
  test('announce applications that were deactivated before there were versions, and no others', async () => {
    await using old = await anOldDatabase('0006_application_versions.sql');
    const [open, closed] = [newId(), newId()];
    await old.insert(open, { active: true });
    await old.insert(closed, { active: false });
    await old.migrate();
    const messages = await old.queued();
    expect(messages).toMatchObject([
      { account_id: old.accountId, data: { application_id: closed, active: false, version: 1 } },
    ]);
  });

  test('announce what was changed without an event since there are versions, and nothing twice', async () => {
    await using old = await anOldDatabase('0007_application_announcements.sql');
    const [open, closed, reopened, fresh] = [newId(), newId(), newId(), newId()];
    for (const id of [open, closed]) await old.insert(id, { active: true });
    await old.insert(fresh, { active: false });
    await old.insert(reopened, { active: false });
    await old.announce(reopened, { active: false, version: 1 });
    await old.query(sql`update applications set active = false where id = ${closed}`);
    await old.query(sql`update applications set active = true where id = ${reopened}`);
    await old.migrate();
    const announced = (await old.queued()).map(({ data }) => data);
    expect(announced).toHaveLength(4);
    expect(announced).toEqual(
      expect.arrayContaining([
        { application_id: reopened, active: false, version: 1 },
        { application_id: closed, active: false, version: 2 },
        { application_id: fresh, active: false, version: 2 },
        { application_id: reopened, active: true, version: 2 },
      ]),
    );
    await old.query(sql`update applications set active = false where id = ${open}`);
    expect((await old.queued()).at(-1)?.data).toEqual({
      application_id: open,
      active: false,
      version: 2,
    });
  });
});

/** A database as it was before a migration, with one account. */
async function anOldDatabase(migration: string) {
  await using opened = new AsyncDisposableStack();
  const own = opened.use(await createTestDatabase('gateway'));
  const owner = opened.use(createPool({ url: own.adminUrl, applicationName: 'test', max: 1 }));
  const dir = mkdtempSync(path.join(tmpdir(), 'pixmesh-applications-'));
  opened.defer(() => rmSync(dir, { recursive: true }));
  const before = readdirSync(MIGRATIONS).filter((name) => name < migration);
  for (const name of before) cpSync(path.join(MIGRATIONS, name), path.join(dir, name));
  const job = { adminUrl: own.adminUrl, schema: 'gateway', password: TEST_PASSWORD };
  await owner.query(sql`drop schema gateway cascade`);
  await migrateSchema({ ...job, migrationsDir: dir, mechanisms: ['outbox'] });
  const account = newId();
  const query = (statement: Statement) => own.db.query(statement);
  await query(sql`
    insert into accounts
    select
      ${account}, 'Loja', 'Loja Ltda', '11444777000161', 'cnpj', '', 'active', 'pending', false, true, 0,
      86400, 0, 'accept', now()`);
  const all = opened.move();
  return {
    accountId: account,
    query,
    insert: (id: string, { active }: { active: boolean }) =>
      query(sql`
        insert into applications (id, account_id, name, active, fingerprint)
        values (${id}, ${account}, 'shop', ${active}, '')`),
    /** Announces a state, as the gateway does. */
    announce: (id: string, { active, version }: Announced) => {
      const event = buildApplicationChanged({
        id: id as ApplicationId,
        accountId: account as AccountId,
        active,
        version,
      });
      return query(sql`
        with said as (select), ${appendEvents(sql`select from said`, [event])}
        select from said`);
    },
    /** Said twice, as deploy jobs are. */
    migrate: async () => {
      for (let run = 0; run < 2; run += 1) {
        await migrateSchema({ ...job, migrationsDir: MIGRATIONS, mechanisms: ['outbox'] });
      }
    },
    /** What is to be published, each in its place and by its schema. */
    queued: async () => {
      const rows = await own.db.query<{ message: object; place: object }>(sql`
        select message, json_build_object('topic', topic, 'key', key, 'type', type) as place
        from outbox
        join events using (event_id)
        order by outbox.id`);
      const { topic: name, type } = ApplicationChanged;
      for (const { place } of rows) expect(place).toEqual({ topic: name, key: account, type });
      return rows.map(({ message }) => ApplicationChanged.schema.parse(message));
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

function isAbout(value: unknown, applicationId: string): boolean {
  return (value as { application_id?: unknown }).application_id === applicationId;
}
