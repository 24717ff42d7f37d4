import type { Topic } from '@pixmesh/contracts/topics';
import { within } from '@pixmesh/kernel/within';
import { observedGauge, sharedFor } from '@pixmesh/telemetry/metrics';
import type { Admin } from 'kafkajs';

import { readLag } from './group-lag.ts';
import { createKafka, type KafkaOptions } from './kafka-client.ts';
import { endsByTopic } from './topic-ends.ts';

/** A scrape within this time gets the same answer: any number of readers cost the broker one look. */
const KEPT_MS = 10_000;
/** Without an answer by then the broker counts as one that does not answer. */
const ANSWER_MS_MAX = 3_000;

/** What the broker says of a topic that is gone, or that this client may not describe. */
const NOT_SHOWN = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'TOPIC_AUTHORIZATION_FAILED']);

type Group = { groupId: string; topics: readonly Topic[] };

/** What a group has not handled of a topic. */
export type GroupLag = { group: string; topic: Topic; messages: number; ageSeconds: number };

export type GroupWatch = AsyncDisposable & {
  /** Some seconds old at most, without topics that the broker does not show; null while it answers for none. */
  read(): Promise<GroupLag[] | null>;
};

type WatchOptions = KafkaOptions & { topicPrefix: string; groups: readonly Group[] };

/**
 * Measures consumer groups by their offsets at the broker, so that they are seen also where no process of them lives.
 * Nothing is read of any message. It asks when it is scraped, over one connection that it keeps.
 */
export function watchGroups(options: WatchOptions): GroupWatch {
  let connected: Promise<Admin> | null = null;
  const read = sharedFor(KEPT_MS, () => within(ANSWER_MS_MAX, readAll().catch(disconnect), null));
  observe(read);
  return { read, [Symbol.asyncDispose]: async () => void (await disconnect()) };

  async function readAll(): Promise<GroupLag[]> {
    connected ??= connect(options);
    const admin = await connected;
    const wanted = new Set(options.groups.flatMap((group) => group.topics));
    const shown = await findShown(admin, wanted, options);
    const endsOf = endsByTopic(admin);
    const places = options.groups.flatMap((group) =>
      group.topics
        .filter((topic) => shown.has(topic))
        .map(async (topic): Promise<GroupLag> => {
          const place = { ...options, groupId: group.groupId, topic, endsOf };
          const { messages, ageSeconds } = await readLag(admin, place);
          return { group: group.groupId, topic, messages, ageSeconds };
        }),
    );
    const lags = await Promise.all(places);
    // A connection asks for all topics that it has known together, and would be refused for the one that is gone.
    if (shown.size < wanted.size) await disconnect();
    return lags;
  }

  /** The next look connects anew: by the certificate of its own moment. */
  async function disconnect(): Promise<null> {
    const last = connected;
    connected = null;
    await last?.then((admin) => admin.disconnect()).catch(() => undefined);
    return null;
  }
}

async function connect(options: WatchOptions): Promise<Admin> {
  const admin = createKafka(options).admin({ retry: { retries: 1 } });
  await admin.connect();
  return admin;
}

/**
 * One by one: the library has no answer for any of several topics where one is not shown.
 * @throws where none is shown
 */
async function findShown(
  admin: Admin,
  topics: ReadonlySet<Topic>,
  { topicPrefix, logger }: Pick<WatchOptions, 'topicPrefix' | 'logger'>,
): Promise<ReadonlySet<Topic>> {
  const shown = new Set<Topic>();
  for (const topic of topics) {
    try {
      await admin.fetchTopicMetadata({ topics: [topicPrefix + topic] });
      shown.add(topic);
    } catch (error) {
      if (!NOT_SHOWN.has((error as { type?: string }).type ?? '')) throw error;
      logger.warn({ err: error, topic }, 'topic not shown by the broker');
    }
  }
  if (shown.size === 0) throw new Error('the broker shows no topic');
  return shown;
}

function observe(read: GroupWatch['read']): void {
  const lagOf = async (value: (lag: GroupLag) => number) =>
    ((await read()) ?? []).map((lag) => ({
      value: value(lag),
      attributes: { group: lag.group, topic: lag.topic },
    }));
  observedGauge(
    'kafka_up',
    '1 where the broker has answered this look for some topic',
    async () => [{ value: (await read()) === null ? 0 : 1 }],
  );
  observedGauge(
    'kafka_group_lag_messages',
    'Messages of a topic that a consumer group has not handled; absent while the broker does not answer for it',
    () => lagOf(({ messages }) => messages),
  );
  observedGauge(
    'kafka_group_lag_seconds',
    'Age that the oldest of them has passed, in steps; 0 where there is none, or it is younger than 5 s',
    () => lagOf(({ ageSeconds }) => ageSeconds),
  );
}
