import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

import { AcquirerCallback } from '@pixmesh/contracts/messages/acquirer-callback.v1';
import { createEventPublisher } from '@pixmesh/kafka/event-publisher';
import { warmCodec } from '@pixmesh/kafka/schema-registry';
import { aStoredEvent } from '@pixmesh/kafka/testing/published-messages';
import { withDatabase, withUser } from '@pixmesh/local-stack/infra/postgres-databases';
import { appendEvents, type OutboundEvent } from '@pixmesh/postgres/events';
import { OWNER_ROLE } from '@pixmesh/postgres/owner-role';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { processEnvironment } from '@pixmesh/testkit/process-environment';
import { createMeshDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import {
  TEST_PASSWORD,
  testBroker,
  testIdentityFolder,
  testInfra,
} from '@pixmesh/testkit/test-infra';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ONE = aCallback('one', '61eb7f22');
const TWO = aCallback('two', '61eb7f23');

let database: TestDatabase;
let topicPrefix: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  database = await createMeshDatabase('gateway');
  ({ topicPrefix } = await createTestTopics());
  const name = new URL(database.url).pathname.slice(1);
  const { kafkaBrokers, registryUrl, postgresServiceUrl } = testInfra();
  env = {
    ...processEnvironment(),
    // The servers of tests are on this machine.
    PIXMESH_ALLOW_PLAINTEXT: 'postgres,registry',
    ADMIN_DATABASE_URL: withUser(withDatabase(postgresServiceUrl, name), {
      role: OWNER_ROLE,
      password: TEST_PASSWORD,
    }),
    KAFKA_BROKERS: kafkaBrokers.join(','),
    KAFKA_TOPIC_PREFIX: topicPrefix,
    MESH_TLS_DIR: testIdentityFolder('deploy'),
    SCHEMA_REGISTRY_URL: registryUrl,
  };
});
afterAll(() => database[Symbol.asyncDispose]());

test('a tail shows what a topic holds of a key, without what dead letters hide, and ends', async () => {
  await publish([ONE, TWO]);
  const { code, out, error } = await run('tail', AcquirerCallback.topic, '--key', 'one');
  expect({ code, error }).toMatchObject({
    code: 0,
    error: expect.stringContaining('2 messages, 1 of this key\n'),
  });
  expect(JSON.parse(out)).toMatchObject({
    key: 'one',
    value: { data: { item: { txid: '61eb7f22', chave: '[redacted]', pagador: '[redacted]' } } },
  });
});

test('an installation before its restore is shown by its prefix', async () => {
  const before = env['KAFKA_TOPIC_PREFIX'];
  env['KAFKA_TOPIC_PREFIX'] = 'r2-';
  const { code, out } = await run('list', '--prefix', topicPrefix);
  env['KAFKA_TOPIC_PREFIX'] = before;
  expect(code).toBe(0);
  expect(out).toContain(`\n${topicPrefix}${AcquirerCallback.topic} `);
});

test('the owner queues events once more, of a key or of all, and says how many by schema', async () => {
  const guarded = appendEvents(sql`select from guard`, [ONE, TWO]);
  await database.db.query(sql`with guard as (select 1), ${guarded} select from guard`);
  await database.db.query(sql`delete from outbox`);
  const since = ['--topic', AcquirerCallback.topic, '--from', '2026-01-01T00:00:00Z'];
  expect(await run('republish', ...since, '--key', 'one')).toMatchObject({
    code: 0,
    out: '{"gateway":1}\n',
  });
  expect(await queued()).toEqual([ONE.eventId]);
  expect(await run('republish', ...since)).toMatchObject({ out: '{"gateway":2}\n' });
  expect(await queued()).toEqual([ONE.eventId, ONE.eventId, TWO.eventId]);
  const commands = ['--topic', 'ledger.commands.v1', '--from', '2026-01-01T00:00:00Z'];
  expect(await run('republish', ...commands)).toMatchObject({ out: '{"charges":0,"payouts":0}\n' });
});

test('nothing is queued for words that do not say since when', async () => {
  const words = ['--topic', AcquirerCallback.topic];
  const { code, out, error } = await run('republish', ...words);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(error).toMatch(/^deploy: usage: topics list .*\n$/);
});

function aCallback(key: string, txid: string): OutboundEvent {
  const event = aStoredEvent('callback', key, 1);
  const item = { txid, valor: '10.00', chave: 'pix@example.com', pagador: { nome: 'Ana Souza' } };
  return { ...event, message: { ...event.message, data: { kind: 'received', item } } };
}

async function publish(events: readonly OutboundEvent[]): Promise<void> {
  const codec = await warmCodec(testInfra().registryUrl, [AcquirerCallback]);
  const logger = createLogger('test', 'silent');
  const options = { ...testBroker(), clientId: 'deploy-test', logger, codec, topicPrefix };
  await using publisher = createEventPublisher(options);
  await publisher.publishAll(
    events.map((event) => ({ ...event, traceparent: null, isResend: false })),
  );
}

async function queued(): Promise<string[]> {
  const rows = await database.db.query<{ event_id: string }>(
    sql`select event_id from outbox order by event_id`,
  );
  return rows.map(({ event_id }) => event_id);
}

/** As the copy of the deploy job runs it. */
async function run(...words: readonly string[]) {
  const child = spawn(process.execPath, ['deploy/main.ts', 'topics', ...words], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[code], out, error] = await Promise.all([
    once(child, 'exit') as Promise<[number]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, out, error };
}
