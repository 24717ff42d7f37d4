import { LEDGER_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import { createEventPublisher, type EventPublisher } from '@pixmesh/kafka/event-publisher';
import { warmCodec } from '@pixmesh/kafka/schema-registry';
import type { TailedMessage } from '@pixmesh/kafka/tail';
import { newId } from '@pixmesh/kernel/ids';
import { listDeadLetters } from '@pixmesh/postgres/dead-letters';
import { createPool, type Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { stopTelemetry } from '@pixmesh/telemetry/running-telemetry';
import { startTelemetry } from '@pixmesh/telemetry/start-telemetry';
import { eventually } from '@pixmesh/testkit/eventually';
import { type OtlpReceiver, startOtlpReceiver } from '@pixmesh/testkit/otlp-receiver';
import { followTopic } from '@pixmesh/testkit/read-topic';
import { publishStubbornly } from '@pixmesh/testkit/publish-stubbornly';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { testBroker, testIdentityFolder, testInfra } from '@pixmesh/testkit/test-infra';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { LedgerConfig } from '#config.ts';
import { auditBooks } from '#test/audit-books.sql.ts';
import { countRows, readBalances } from '#test/read-ledger.ts';
import {
  aReceivedPixCredit,
  again,
  anEndToEndId,
  aReceivedPixSuspend,
  aHoldRelease,
  aHoldSettle,
  type CommandWire,
} from '#test/ledger-messages.ts';

import { startLedger } from './service.ts';

/** The whole service between two real topics, traced. */
let collector: OtlpReceiver;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let topicPrefix: string;
let ledger: AsyncDisposable;
let commands: EventPublisher;
let outcomes: ReturnType<typeof followTopic>;

beforeAll(async () => {
  collector = await startOtlpReceiver();
  // Read from the environment of the process, which other files share.
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
  await startTelemetry('ledger', process.env);
  vi.unstubAllEnvs();
  database = await createTestDatabase('ledger');
  ({ topicPrefix } = await createTestTopics());
  ledger = await startLedger(testConfig());
  const codec = await warmCodec(testInfra().registryUrl, Object.values(LEDGER_COMMANDS));
  const logger = createLogger('charges', 'silent');
  const client = { ...testBroker('charges'), clientId: 'charges', logger };
  commands = createEventPublisher({ ...client, codec, topicPrefix });
  outcomes = followTopic(topicPrefix, TOPICS.ledgerEvents);
});

afterAll(async () => {
  await outcomes[Symbol.asyncDispose]();
  await commands[Symbol.asyncDispose]();
  await ledger[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await stopTelemetry();
  await collector[Symbol.asyncDispose]();
});

test('a credit goes from its topic through the books to the topic of outcomes', async () => {
  const credit = aReceivedPixCredit({ amount: 2_500 });
  await send([credit]);
  const outcome = await outcomeOf(credit);
  expect(outcome.key).toBe(credit.account_id);
  expect(outcome.headers).toMatchObject({ type: 'received_pix.credited' });
  expect(outcome.value).toMatchObject({
    event_id: outcome.headers['event_id'],
    type: 'received_pix.credited',
    account_id: credit.account_id,
    data: {
      command_id: credit.data.command_id,
      end_to_end_id: credit.data.end_to_end_id,
      charge_id: credit.data.charge_id,
      amount: 2_500,
      balance: { available: 2_500, pending: 0 },
    },
  });
  expect(await readBalances(database.db, credit.account_id ?? '')).toMatchObject({
    available: 2_500,
  });
});

test('the trace of a command goes on through the outbox to its outcome', async () => {
  const traceId = newId().replaceAll('-', '');
  const credit = aReceivedPixCredit();
  await send([credit], `00-${traceId}-00f067aa0ba902b7-01`);
  const outcome = await outcomeOf(credit);
  expect(outcome.headers['traceparent']).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  const spans = await eventually(() => {
    const found = collector.spans().filter((span) => span.traceId === traceId);
    expect(found.map((span) => span.name)).toContain(`send ${TOPICS.ledgerEvents}`);
    return found;
  });
  const processed = spans.find((span) => span.name === `process ${TOPICS.ledgerCommands}`);
  const sent = spans.find((span) => span.name === `send ${TOPICS.ledgerEvents}`);
  expect(processed?.kind).toBe('consumer');
  expect(sent?.parentSpanId).toBe(processed?.spanId);
  expect(outcome.headers['traceparent']).toContain(sent?.spanId);
});

test('one account hears of its outcomes in the order of its commands', async () => {
  const accountId = newId();
  const credits = Array.from({ length: 30 }, () => aReceivedPixCredit({ accountId, amount: 10 }));
  await send(credits);
  await outcomeOf(credits.at(-1)!);
  const received = outcomes.messages.filter((message) => message.key === accountId).map(dataOf);
  expect(received.map((data) => data.command_id)).toEqual(
    credits.map((credit) => credit.data.command_id),
  );
  expect(received.map((data) => data.balance.available)).toEqual(
    credits.map((_, at) => (at + 1) * 10),
  );
});

test('a topic that is delivered twice changes and publishes nothing more', async () => {
  const accountId = newId();
  const messages = [
    ...Array.from({ length: 10 }, () => aReceivedPixCredit({ accountId, amount: 7 })),
    aReceivedPixSuspend({ accountId, amount: 5 }),
  ];
  await send(messages);
  await outcomeOf(messages.at(-1)!);
  const before = await counts();
  const last = aReceivedPixCredit({ accountId, amount: 1 });
  await send([...messages, ...messages.map(again), last]);
  await outcomeOf(last);
  expect(await counts()).toEqual({ journals: before.journals + 1, events: before.events + 1 });
  expect(outcomes.messages.filter((message) => message.key === accountId)).toHaveLength(12);
  expect(await readBalances(database.db, accountId)).toMatchObject({ available: 71, suspense: 5 });
});

test('a credit of a Pix that stands in suspense is parked, and the partition moves on', async () => {
  const pix = { accountId: newId(), endToEndId: anEndToEndId(), chargeId: newId(), amount: 60 };
  const suspense = aReceivedPixSuspend(pix);
  const refused = aReceivedPixCredit(pix);
  const next = aReceivedPixCredit({ accountId: pix.accountId, amount: 9 });
  await send([suspense, refused, next]);
  expect((await outcomeOf(next)).value).toMatchObject({ data: { balance: { available: 9 } } });
  // It is parked behind its batch, whose outcomes may be published before.
  await eventually(async () => {
    const [letter] = await listDeadLetters(database.db, { limit: 1, startingAfter: null });
    expect(letter).toMatchObject({
      consumer: 'ledger.commands',
      topic: TOPICS.ledgerCommands,
      key: pix.accountId,
      code: 'CONFLICT',
      headers: { event_id: refused.event_id },
    });
  });
  expect(outcomesOf(suspense).map((message) => message.headers['type'])).toEqual([
    'received_pix.suspended',
  ]);
});

test('each outcome of a batch goes on in the trace of its own command', async () => {
  const traceIds = Array.from({ length: 8 }, () => newId().replaceAll('-', ''));
  const accountId = newId();
  const credits = traceIds.map(() => aReceivedPixCredit({ accountId }));
  await publishStubbornly(
    commands,
    credits.map((message, index) => ({
      ...toPublish(message),
      traceparent: `00-${traceIds[index]}-00f067aa0ba902b7-01`,
    })),
  );
  await outcomeOf(credits.at(-1)!);
  const received = credits.map((credit) => outcomesOf(credit)[0]?.headers['traceparent']);
  expect(received.map((traceparent) => traceparent?.slice(3, 35))).toEqual(traceIds);
});

test('a hold is ended over the topic, and the loser of the race is told', async () => {
  const accountId = newId();
  const hold = { accountId, holdId: newId(), resourceId: newId() };
  const [release, settlement] = [aHoldRelease(hold), aHoldSettle(hold)];
  await send([release, settlement]);
  expect((await outcomeOf(release)).headers['type']).toBe('hold.released');
  expect(await outcomeOf(settlement)).toMatchObject({
    headers: { type: 'hold.end_refused' },
    value: { data: { wanted: 'settled', state: 'released', amount: 0 } },
  });
});

test('a settlement of a hold that nobody took is parked, and those around it are booked', async () => {
  const accountId = newId();
  const unknown = aHoldSettle({ accountId, holdId: newId(), resourceId: newId() });
  const credits = Array.from({ length: 20 }, () => aReceivedPixCredit({ accountId, amount: 5 }));
  await send([...credits.slice(0, 10), unknown, ...credits.slice(10)]);
  await outcomeOf(credits.at(-1)!);
  const letters = await listDeadLetters(database.db, { limit: 10, startingAfter: null });
  const letter = letters.find(({ headers }) => headers['event_id'] === unknown.event_id);
  expect(letter).toMatchObject({
    code: 'MESSAGE_INVALID',
    reason: expect.stringContaining('was never taken'),
  });
  expect(await readBalances(database.db, accountId)).toMatchObject({ available: 100 });
});

test('a database that is away is waited for: nothing is parked and nothing lost', async () => {
  const accountId = newId();
  const before = await listDeadLetters(database.db, { limit: 100, startingAfter: null });
  const credits = Array.from({ length: 30 }, () => aReceivedPixCredit({ accountId, amount: 1 }));
  const admin = createPool({ url: database.adminUrl, applicationName: 'outage', max: 1 });
  try {
    // The rows cannot be reached, as in an outage that begins in the middle of a statement.
    await admin.transaction(async (tx) => {
      await tx.query(sql`lock table ledger.accounts in access exclusive mode`);
      await send(credits);
      await eventually(async () => expect(await countWaiting(tx)).toBeGreaterThan(0));
      await cutConnections(tx);
    });
  } finally {
    await admin[Symbol.asyncDispose]();
  }
  await outcomeOf(credits.at(-1)!);
  expect(await readBalances(database.db, accountId)).toMatchObject({ available: 30 });
  const after = await listDeadLetters(database.db, { limit: 100, startingAfter: null });
  expect(after).toHaveLength(before.length);
});

test('a stop publishes what is booked, and a new start goes on where the last one ended', async () => {
  const accountId = newId();
  const first = aReceivedPixCredit({ accountId, amount: 100 });
  await send([first]);
  await eventually(async () => {
    expect(await readBalances(database.db, accountId)).toMatchObject({ available: 100 });
  });
  await ledger[Symbol.asyncDispose]();
  expect(await countRows(database.db, 'outbox')).toBe(0);
  const second = aReceivedPixCredit({ accountId, amount: 1 });
  await send([second]);
  ledger = await startLedger(testConfig());
  expect((await outcomeOf(second)).value).toMatchObject({ data: { balance: { available: 101 } } });
  expect(outcomesOf(first)).toHaveLength(1);
});

test('whatever came, the books are sound', async () => {
  expect(await auditBooks(database.db)).toEqual([]);
});

function testConfig(): LedgerConfig {
  return LedgerConfig.parse({
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    DATABASE_URL: database.url,
    MESH_TLS_DIR: testIdentityFolder('ledger'),
    INTERNAL_PORT: 0,
    PORT: 0,
    KAFKA_BROKERS: testInfra().kafkaBrokers.join(','),
    KAFKA_TOPIC_PREFIX: topicPrefix,
    SCHEMA_REGISTRY_URL: testInfra().registryUrl,
  });
}

/** Sessions of the service that wait for a lock. */
async function countWaiting(db: Queryable): Promise<number> {
  const rows = await db.query(sql`
    select from pg_stat_activity
    where datname = current_database() and usename = 'pixmesh_ledger' and wait_event_type = 'Lock'`);
  return rows.length;
}

/** Ends every session of the service with the database. */
async function cutConnections(db: Queryable): Promise<void> {
  await db.query(sql`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where datname = current_database() and usename = 'pixmesh_ledger'`);
}

/** Puts commands on the topic as the relay of charges does. */
async function send(
  messages: readonly CommandWire[],
  traceparent: string | null = null,
): Promise<void> {
  await publishStubbornly(
    commands,
    messages.map((message) => ({ ...toPublish(message), traceparent })),
  );
}

function toPublish(message: CommandWire) {
  return {
    eventId: message.event_id,
    topic: TOPICS.ledgerCommands,
    key: message.account_id ?? '',
    type: message.type,
    message,
  };
}

type OutcomeData = { command_id: string; balance: { available: number; pending: number } };

function dataOf(message: TailedMessage): OutcomeData {
  return (message.value as { data: OutcomeData }).data;
}

function outcomesOf(command: CommandWire): TailedMessage[] {
  return outcomes.messages.filter(
    (message) => dataOf(message).command_id === command.data.command_id,
  );
}

async function outcomeOf(command: CommandWire): Promise<TailedMessage> {
  return await eventually(() => {
    const [outcome] = outcomesOf(command);
    if (!outcome) throw new Error(`no outcome of ${command.data.command_id} yet`);
    return outcome;
  }, 20_000);
}

async function counts(): Promise<{ journals: number; events: number }> {
  return {
    journals: await countRows(database.db, 'journals'),
    events: await countRows(database.db, 'events'),
  };
}
