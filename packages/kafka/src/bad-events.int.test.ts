import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { appendEvents, type OutboundEvent } from '@pixmesh/postgres/events';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { freePorts } from '@pixmesh/testkit/free-ports';
import { scaled } from '@pixmesh/testkit/long-runs';
import { ownProcess } from '@pixmesh/testkit/owned-process';
import { processEnvironment } from '@pixmesh/testkit/process-environment';
import { followTopic } from '@pixmesh/testkit/read-topic';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { testBroker, testIdentityFolder, testInfra } from '@pixmesh/testkit/test-infra';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { createLogger } from '@pixmesh/telemetry/logger';
import { expect, test } from 'vitest';

import { createKafka } from './kafka-client.ts';
import { aStoredEvent, type Published, PUBLISHED_MESSAGES } from './testing/published-messages.ts';

/** Of the protocol's kinds of what can be configured; the library's own table cannot be imported by name. */
const TOPIC_RESOURCE = 2;
const GOOD = 1_000;
const KEYS = 10;
const PATIENCE_MS = 30_000;
/** For so long one topic of three is refused. */
const REFUSED_MS = scaled(3_000, 60_000);
/** Which topic that is, and the one that has an event with an unknown field. */
const REFUSED: Published = 'application';
const WITH_MISFIT: Published = 'credit';
const TAKEN: readonly Published[] = ['callback', 'credit'];
const CULPRIT = 'culprit';

/** By this setting a broker refuses everything for a topic. */
const REFUSAL = { name: 'max.message.bytes', value: '1' };

const PUBLISHING_PROCESS = fileURLToPath(new URL('testing/publishing-process.ts', import.meta.url));

test(
  'of an event with an unknown field among good ones, and a topic of three that the broker refuses, the others arrive once, in order per key',
  async () => {
    await using database = await createTestDatabase('ledger');
    const { topicPrefix } = await createTestTopics();
    await using outbox = await startPublishing(topicPrefix, database);
    await using arrived = followTopics(topicPrefix);
    const refused = topicPrefix + PUBLISHED_MESSAGES[REFUSED].topic;
    await configure(refused, [REFUSAL]);

    const [before, invalid, behind] = [0, 1, 2].map((number) =>
      aStoredEvent(WITH_MISFIT, CULPRIT, number),
    ) as [OutboundEvent, OutboundEvent, OutboundEvent];
    const message = { ...invalid.message, of_a_newer_version: true };
    await outbox.append([before]);
    await outbox.append([
      ...outbox.goodOnes(GOOD / 2),
      { ...invalid, message },
      behind,
      ...outbox.goodOnes(GOOD / 2),
    ]);
    const firstMs = await untilTaken();
    const endMs = performance.now() + REFUSED_MS;
    const laterMs: number[] = [];
    do {
      await outbox.append(outbox.goodOnes(3));
      laterMs.push(await untilTaken());
    } while (performance.now() < endMs);
    expect(arrived.of(REFUSED)).toEqual({});

    await configure(refused, []);
    const mendedMs = performance.now();
    await eventually(() => {
      for (const name of [...TAKEN, REFUSED])
        expect(arrived.of(name)).toEqual(outbox.expected(name));
    }, PATIENCE_MS);
    const seconds = ((performance.now() - mendedMs) / 1_000).toFixed(1);
    process.stdout.write(
      `${GOOD} events after ${Math.round(firstMs)} ms, then ${laterMs.length} times three, ` +
        `after ${Math.round(Math.max(...laterMs))} ms at most; all ${seconds} s after the refusals\n`,
    );

    const { topic, type } = PUBLISHED_MESSAGES[WITH_MISFIT];
    expect(await outbox.metric('outbox_events_parked_total')).toEqual([
      expect.stringContaining(`topic="${topic}",type="${type}"`),
    ]);
    expect(await outbox.metric('kafka_publications_refused_total')).toEqual([
      expect.stringContaining(`topic="${PUBLISHED_MESSAGES[REFUSED].topic}"`),
    ]);
    expect(outbox.logged('event parked in dead_letters')).toEqual([
      expect.objectContaining({ event_id: invalid.eventId, topic, type, message_key: CULPRIT }),
    ]);
    expect(outbox.logged('publication refused by the broker')).toContainEqual(
      expect.objectContaining({ topic: refused }),
    );
    const letters = await database.db.query(sql`select consumer, key from dead_letters`);
    expect(letters).toEqual([{ consumer: 'outbox', key: CULPRIT }]);
    expect(await database.db.query(sql`select event_id from outbox`)).toEqual([
      { event_id: behind.eventId },
    ]);

    /** What the broker takes has arrived; answers after how long. */
    async function untilTaken(): Promise<number> {
      const sinceMs = performance.now();
      await eventually(() => {
        for (const name of TAKEN) expect(arrived.of(name)).toEqual(outbox.expected(name));
      }, PATIENCE_MS);
      return performance.now() - sinceMs;
    }
  },
  REFUSED_MS + 4 * PATIENCE_MS,
);

/** Numbers of events by their keys, in their order. */
type Numbers = Record<string, number[]>;

async function startPublishing(topicPrefix: string, { url, db }: TestDatabase) {
  const [port = 0] = await freePorts(1);
  const { kafkaBrokers, registryUrl } = testInfra();
  const child = ownProcess(
    spawn(
      process.execPath,
      [
        '--import',
        '@pixmesh/telemetry/preload',
        PUBLISHING_PROCESS,
        kafkaBrokers[0] ?? '',
        testIdentityFolder('tools'),
        registryUrl,
        topicPrefix,
        url,
        String(port),
      ],
      { env: processEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] },
    ),
  );
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const expected = new Map<Published, Numbers>([[WITH_MISFIT, { [CULPRIT]: [0] }]]);
  let made = 0;
  return {
    goodOnes: (count: number) => Array.from({ length: count }, aGoodOne),
    append,
    expected: (published: Published) => expected.get(published) ?? {},
    metric,
    logged: (message: string): object[] =>
      output
        .split('\n')
        .filter((line) => line.includes(`"msg":"${message}"`))
        .map((line) => JSON.parse(line) as object),
    [Symbol.asyncDispose]: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    },
  };

  function aGoodOne(): OutboundEvent {
    const number = made++;
    const names = Object.keys(PUBLISHED_MESSAGES) as Published[];
    const published = names[number % names.length] ?? REFUSED;
    const key = `key-${number % KEYS}`;
    const ofTopic = expected.get(published) ?? {};
    expected.set(published, { ...ofTopic, [key]: [...(ofTopic[key] ?? []), number] });
    return aStoredEvent(published, key, number);
  }

  async function append(events: readonly OutboundEvent[]): Promise<void> {
    const pair = appendEvents(sql`select from guard`, events);
    await db.query(sql`with guard as (select 1), ${pair} select from guard`);
  }

  /** The lines of one metric that has counted something. */
  async function metric(name: string): Promise<string[]> {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
    return lines.filter((line) => !line.endsWith(' 0'));
  }
}

function followTopics(topicPrefix: string) {
  const names = Object.keys(PUBLISHED_MESSAGES) as Published[];
  const topics = new Map(
    names.map((name) => [name, followTopic(topicPrefix, PUBLISHED_MESSAGES[name].topic)]),
  );
  return {
    of: (published: Published): Numbers => {
      const messages = topics.get(published)?.messages ?? [];
      const byKey = Map.groupBy(messages, ({ key }) => key ?? '');
      return Object.fromEntries(
        [...byKey].map(([key, ofKey]) => [
          key,
          ofKey.map(({ headers }) => Number(headers['number'])),
        ]),
      );
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...topics.values()].map((topic) => topic[Symbol.asyncDispose]()));
    },
  };
}

/** All settings that a topic has of its own from now on. */
async function configure(
  topic: string,
  configEntries: { name: string; value: string }[],
): Promise<void> {
  const logger = createLogger('test', 'silent');
  const admin = createKafka({ ...testBroker('deploy'), clientId: 'test', logger }).admin();
  await admin.connect();
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: TOPIC_RESOURCE, name: topic, configEntries }],
  });
  await admin.disconnect();
}
