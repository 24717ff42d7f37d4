import { setTimeout as delay } from 'node:timers/promises';

import { accessOfFolder } from '@pixmesh/kafka/broker-access';
import { createKafka } from '@pixmesh/kafka/kafka-client';
import { identityFolder } from '@pixmesh/local-stack/infra/identities';
import { PARTITIONS_PER_TOPIC, TOPICS } from '@pixmesh/contracts/topics';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { expect } from 'vitest';

import { pidOf } from './kill-process.ts';
import { homeOf, stack } from './mesh.ts';

const PUBLISHED_MS_MAX = 60_000;
/** What a frozen process asked for before is answered by then, and read when it goes on; later messages are not. */
const FETCH_MS_MAX = 1_000;

/** How many events each service with an outbox has still to publish. */
const WAITING: Readonly<Record<string, Statement>> = {
  gateway: sql`select count(*)::int as count from gateway.outbox`,
  charges: sql`select count(*)::int as count from charges.outbox`,
  payouts: sql`select count(*)::int as count from payouts.outbox`,
  ledger: sql`select count(*)::int as count from ledger.outbox`,
};

export type Broker = ReturnType<typeof openBroker>;

/** The broker of the mesh, as somebody sees it who can take messages out of it. */
export function openBroker() {
  const { postgres_url: url, kafka_brokers: brokers } = stack();
  const identity = identityFolder(homeOf(), 'deploy');
  const db = createPool({ url, applicationName: 'lost-messages', max: 3 });
  const admin = createKafka({
    ...accessOfFolder(brokers, identity),
    clientId: 'lost-messages',
    logger: createLogger('lost-messages', 'silent'),
  }).admin();
  const connected = admin.connect();
  return {
    thaw: (service: string) => process.kill(pidOf(service), 'SIGCONT'),
    whileFrozen,
    holdBackCommands,
    untilPublished,
    untilDecided: () => untilNone(db, undecided),
    untilUnanswered,
    untilStored,
    unansweredTypes: () => readUnansweredTypes(db),
    stateAtDispatcher,
    typesSince: (topics: readonly string[], since: Date) => readTypesSince(db, topics, since),
    lose,
    makeAgain,
    [Symbol.asyncDispose]: async () => {
      await connected;
      await admin.disconnect();
      await db[Symbol.asyncDispose]();
    },
  };

  /** These services stand still meanwhile: what is sent to them since then stays in its topic. */
  async function whileFrozen(
    services: readonly string[],
    work: (since: Date) => Promise<void>,
  ): Promise<void> {
    const pids = services.map((service) => pidOf(service));
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    try {
      await delay(FETCH_MS_MAX);
      await work(new Date());
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    }
  }

  /** What charges and payouts send from now on waits in their outboxes until it is released, by the lease of the relay. */
  async function holdBackCommands(): Promise<AsyncDisposable & { since: Date }> {
    const held = Promise.withResolvers<Date>();
    const released = Promise.withResolvers<void>();
    const holding = db.transaction(async (tx) => {
      await tx.query(sql`set local idle_in_transaction_session_timeout = 0`);
      await tx.query(sql`select from charges.leases where name = 'outbox-relay' for update`);
      await tx.query(sql`select from payouts.leases where name = 'outbox-relay' for update`);
      held.resolve(new Date());
      await released.promise;
    });
    holding.catch(held.reject);
    const since = await held.promise;
    return {
      since,
      [Symbol.asyncDispose]: async () => {
        released.resolve();
        await holding;
      },
    };
  }

  async function untilPublished(services: readonly string[]): Promise<void> {
    for (const service of services) await untilNone(db, WAITING[service]!);
  }

  async function untilUnanswered(): Promise<void> {
    await eventually(async () => {
      expect(await readUnansweredTypes(db)).not.toEqual([]);
    }, PUBLISHED_MS_MAX);
  }

  /** The gateway has a callback of this charge. */
  async function untilStored(chargeId: string): Promise<void> {
    const txid = chargeId.replaceAll('-', '');
    await eventually(async () => {
      const rows = await db.query(sql`
        select from gateway.events where topic = ${TOPICS.acquirerCallbacks} and key = ${txid}`);
      expect(rows.length).toBeGreaterThan(0);
    }, PUBLISHED_MS_MAX);
  }

  async function stateAtDispatcher(applicationId: string): Promise<boolean | null> {
    const rows = await db.query<{ active: boolean }>(sql`
      select active from webhook_dispatcher.applications where application_id = ${applicationId}`);
    return rows[0]?.active ?? null;
  }

  /** Deletes every message that the topics have now; answers the types of those that were written since then. */
  async function lose(topics: readonly string[], since: Date): Promise<string[]> {
    await connected;
    const types = await readTypesSince(db, topics, since);
    for (const topic of topics) {
      const offsets = await admin.fetchTopicOffsets(topic);
      const partitions = offsets.map(({ partition, high }) => ({ partition, offset: high }));
      await admin.deleteTopicRecords({ topic, partitions });
    }
    return types;
  }

  async function makeAgain(topics: readonly string[]): Promise<void> {
    await connected;
    await admin.deleteTopics({ topics: [...topics] });
    const made = topics.map((topic) => ({ topic, numPartitions: PARTITIONS_PER_TOPIC }));
    const existing = async () => (await admin.listTopics()).filter((name) => topics.includes(name));
    await eventually(async () => expect(await existing()).toEqual([]), PUBLISHED_MS_MAX);
    // An attempt that made one of them, or whose answer was lost, is not made good by the next one's answer.
    await eventually(async () => {
      await admin.createTopics({ topics: made, waitForLeaders: true });
      expect((await existing()).toSorted()).toEqual(topics.toSorted());
    }, PUBLISHED_MS_MAX);
  }
}

const unanswered = sql`
  select command_id, event_id from charges.unanswered_commands
  union all
  select command_id, event_id from payouts.unanswered_commands`;

const undecided = sql`
  select count(*)::int as count
  from (${unanswered}) as sent
  where not exists (select from ledger.journals where journals.command_id = sent.command_id)`;

async function untilNone(db: Database, count: Statement): Promise<void> {
  await eventually(async () => {
    expect(await db.query(count)).toEqual([{ count: 0 }]);
  }, PUBLISHED_MS_MAX);
}

/** Types of the commands without an outcome, each once, with the service that sent it. */
async function readUnansweredTypes(db: Database): Promise<string[]> {
  const rows = await db.query<{ type: string }>(sql`
    with sent as (${unanswered})
    select 'charges ' || type as type from charges.events where event_id in (select event_id from sent)
    union
    select 'payouts ' || type from payouts.events where event_id in (select event_id from sent)
    order by type`);
  return rows.map(({ type }) => type);
}

/** Types of what was written to these topics since then, each once. */
async function readTypesSince(
  db: Database,
  topics: readonly string[],
  since: Date,
): Promise<string[]> {
  const rows = await db.query<{ type: string }>(sql`
    with written as (
      select topic, type, event_id from gateway.events
      union all
      select topic, type, event_id from charges.events
      union all
      select topic, type, event_id from payouts.events
      union all
      select topic, type, event_id from ledger.events
    )
    select distinct type
    from written
    where topic = any (${topics}::text[]) and event_id >= charges.uuid_v7_floor(${since}::timestamptz)
    order by type`);
  return rows.map(({ type }) => type);
}
