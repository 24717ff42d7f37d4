import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

import { LEDGER_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { createEventPublisher, type EventPublisher } from '@pixmesh/kafka/event-publisher';
import { warmCodec } from '@pixmesh/kafka/schema-registry';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { bootProcess } from '@pixmesh/testkit/boot-process';
import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { hasEnded } from '@pixmesh/testkit/owned-process';
import { publishStubbornly } from '@pixmesh/testkit/publish-stubbornly';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { testBroker, testIdentityFolder, testInfra } from '@pixmesh/testkit/test-infra';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { armFailpointsAt } from '@pixmesh/testkit/mesh-calls';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { aReceivedPixCredit, type ReceivedPixCreditWire } from '#test/ledger-messages.ts';

import { auditBooks } from '#test/audit-books.sql.ts';
import { seededRandom } from './seeded-random.ts';

/** `kill -9` of the ledger's process while commands stream: each has one effect (target L1). */
const COMMANDS = scaled(600, 20_000);
const KILLS = scaled(1, 20);
const ACCOUNTS = 20;
const REPEAT_EVERY = 10;
const SENT_AT_ONCE = 50;
/** The broker gives a dead member's partitions away after its session. */
const CATCH_UP_TIMEOUT_MS = 60_000;
const TIMEOUT_MS = scaled(120_000, 900_000);
const SEED = testSeed();

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let topicPrefix: string;
let publisher: EventPublisher;
let failpointsUrl: string;
let ledger: ChildProcess;

beforeAll(async () => {
  database = await createTestDatabase('ledger');
  ({ topicPrefix } = await createTestTopics());
  const codec = await warmCodec(testInfra().registryUrl, Object.values(LEDGER_COMMANDS));
  const logger = createLogger('charges', 'silent');
  const client = { ...testBroker('charges'), clientId: 'charges', logger };
  publisher = createEventPublisher({ ...client, codec, topicPrefix });
  ledger = await startLedger();
});
afterAll(async () => {
  ledger.kill('SIGKILL');
  await publisher[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test(
  `${COMMANDS} commands, ${KILLS} kills: each command once (PIXMESH_TEST_SEED=${SEED})`,
  { timeout: TIMEOUT_MS },
  async () => {
    const random = seededRandom(SEED);
    const accounts = Array.from({ length: ACCOUNTS }, () => newId());
    const credits = Array.from({ length: COMMANDS }, (_, index) =>
      aReceivedPixCredit({ accountId: accounts[index % ACCOUNTS]!, amount: 1 + (index % 97) }),
    );
    const parts = partsOf(credits, KILLS + 1);
    for (const part of parts.slice(0, KILLS)) {
      // Between a commit and its offset, or wherever it happens to be.
      const diesByItself = random.chance(0.5);
      if (diesByItself) await armDeathAfterCommit();
      const mark = (await countBooked()) + Math.floor(part.length / 4);
      const sending = stream(part);
      if (!diesByItself) await killBeyond(mark);
      if (!hasEnded(ledger)) await once(ledger, 'exit');
      ledger = await startLedger();
      await sending;
    }
    await stream(parts.at(-1)!);
    await eventually(async () => expect(await countBooked()).toBe(COMMANDS), CATCH_UP_TIMEOUT_MS);
    await verifyBalances(accounts, credits);
    expect(await auditBooks(database.db)).toEqual([]);
    expect(await findDoubledOutcomes()).toEqual([]);
  },
);

/** Every tenth command is sent twice: the broker may do that too. */
async function stream(credits: readonly ReceivedPixCreditWire[]): Promise<void> {
  for (let at = 0; at < credits.length; at += SENT_AT_ONCE) {
    const group = credits.slice(at, at + SENT_AT_ONCE);
    const repeats = group.filter((_, index) => index % REPEAT_EVERY === 0);
    await publishStubbornly(
      publisher,
      [...group, ...repeats].map((message) => ({
        eventId: newId(),
        topic: LEDGER_COMMANDS[message.type].topic,
        key: message.account_id ?? '',
        type: message.type,
        message,
        traceparent: null,
      })),
    );
  }
}

async function verifyBalances(
  accounts: readonly string[],
  credits: readonly ReceivedPixCreditWire[],
): Promise<void> {
  const rows = await database.db.query<{ id: string; available: bigint; version: bigint }>(
    sql`select account_id as id, available, version from accounts`,
  );
  expect(rows).toHaveLength(accounts.length);
  for (const { id, available, version } of rows) {
    const own = credits.filter((credit) => credit.account_id === id);
    expect(available).toBe(BigInt(own.reduce((sum, { data }) => sum + data.amount, 0)));
    expect(version).toBe(BigInt(own.length));
  }
}

async function countBooked(): Promise<number> {
  const [row] = await database.db.query<{ count: bigint }>(sql`select count(*) from journals`);
  return Number(row?.count);
}

/** Outcomes that stand in `events` more or less than once; published they may be more often. */
async function findDoubledOutcomes(): Promise<object[]> {
  return await database.db.query(sql`
    select command_id, count(event_id)
    from journals
    left join events on (message -> 'data' ->> 'command_id')::uuid = command_id
    group by command_id having count(event_id) <> 1`);
}

/** The next commit of a command is the process's last act; no offset is committed for it. */
async function armDeathAfterCommit(): Promise<void> {
  await armFailpointsAt('ledger', failpointsUrl, {
    'ledger.command.after-commit': 'kill',
  });
}

/** Kills the process once more than so many commands are booked, while it is busy with the rest. */
async function killBeyond(mark: number): Promise<void> {
  await eventually(async () => {
    expect(await countBooked()).toBeGreaterThan(mark);
  }, CATCH_UP_TIMEOUT_MS);
  ledger.kill('SIGKILL');
}

function partsOf<Item>(items: readonly Item[], count: number): Item[][] {
  const size = Math.ceil(items.length / count);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}

async function startLedger(): Promise<ChildProcess> {
  const { kafkaBrokers, registryUrl } = testInfra();
  const { child, ports } = await bootProcess(3, ([internal, port, failpoints]) =>
    spawn(process.execPath, ['services/ledger/src/main.ts'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        NODE_ENV: 'test',
        LOG_LEVEL: 'error',
        DATABASE_URL: database.url,
        MESH_TLS_DIR: testIdentityFolder('ledger'),
        KAFKA_BROKERS: kafkaBrokers.join(','),
        KAFKA_TOPIC_PREFIX: topicPrefix,
        SCHEMA_REGISTRY_URL: registryUrl,
        PORT: String(port),
        INTERNAL_PORT: String(internal),
        FAILPOINTS_PORT: String(failpoints),
      },
    }),
  );
  failpointsUrl = `https://127.0.0.1:${ports[2]}`;
  return child;
}
