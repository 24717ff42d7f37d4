import { readFileSync } from 'node:fs';

import { CHARGE_EVENTS, type ChargeEvent } from '@pixmesh/contracts/messages/charge-event.v1';
import { accessOfFolder } from '@pixmesh/kafka/broker-access';
import { tailTopic } from '@pixmesh/kafka/tail';
import { signWebhookBody } from '@pixmesh/kernel/webhook-signature';
import { askRedis } from '@pixmesh/local-stack/infra/ask-redis';
import type { RedisAccess } from '@pixmesh/local-stack/infra/redis-users';
import { type Job, Queue, Worker } from 'bullmq';
import { Agent, buildConnector } from 'undici';

import { answerCalls } from '../child-calls.ts';
import { EVENT_TYPE, type MerchantEndpoint } from './merchant-endpoints.ts';
import { TOPIC_PREFIXES } from './sides.ts';

/**
 * What a careful team builds from parts: Kafka → a BullMQ queue on Redis with its append-only file → a worker that
 * signs and posts; retries by BullMQ's backoff, jobs and results kept. It keeps endpoints in memory, commits no
 * offsets, checks no address and stores no attempts, all of which make it cheaper than a real one.
 */
export type BaselineCalls = {
  start(input: BaselineInput): Promise<void>;
  /** Deliveries of endpoints that registered since. */
  register(input: { endpoints: readonly MerchantEndpoint[] }): void;
};

type BaselineInput = {
  brokers: string[];
  /** Folder of the identity by which it reads. */
  identity: string;
  registryUrl: string;
  redis: RedisAccess;
  receiverPort: number;
  secret: string;
};
type Delivery = { id: string; url: string; body: string };

const QUEUE = 'deliveries';
const CONCURRENCY = 100;
const BULK_MAX = 500;
const TIMEOUT_MS = 10_000;
const RETRY = { attempts: 8, backoff: { type: 'exponential', delay: 30_000 } };

const urls = new Map<string, string>();
/** What was read and is not queued yet; the producer keeps only so many events ahead. */
const pending: Delivery[] = [];

answerCalls<BaselineCalls>({
  start: async (input) => {
    await keepAppendOnlyFile(input.redis);
    const connection = connectionOf(input.redis);
    const queue = new Queue<Delivery>(QUEUE, { connection, defaultJobOptions: RETRY });
    const agent = createAgent(input.receiverPort);
    const deliver = (job: Job<Delivery>) => post(agent, job.data, input.secret);
    const worker = new Worker<Delivery>(QUEUE, deliver, { connection, concurrency: CONCURRENCY });
    worker.on('error', (error) => console.error(error));
    await worker.waitUntilReady();
    follow(input, queue);
  },
  register: ({ endpoints }) => {
    for (const { applicationId, url } of endpoints) urls.set(applicationId, url);
  },
});

/** As Redis is usually run where jobs matter. Our side is not hurt by it: hints are not written to the file. */
async function keepAppendOnlyFile(redis: RedisAccess): Promise<void> {
  for (const [name, value] of [
    ['appendfsync', 'everysec'],
    ['appendonly', 'yes'],
  ] as const) {
    const answer = await askRedis(redis, ['CONFIG', 'SET', name, value]);
    if (answer !== 'OK') throw new Error(`redis keeps no append-only file: ${answer}`);
  }
}

/** By TLS where our side has it too. */
function connectionOf({ urls, caFile }: RedisAccess) {
  const { hostname: host, port, username, password } = new URL(urls.tools);
  const tls = caFile === undefined ? {} : { tls: { ca: readFileSync(caFile, 'utf8') } };
  return { host, port: Number(port), username, password, maxRetriesPerRequest: null, ...tls };
}

function follow({ brokers, identity, registryUrl }: BaselineInput, queue: Queue<Delivery>): void {
  let isQueueing = false;
  const topic = TOPIC_PREFIXES.baseline + CHARGE_EVENTS[EVENT_TYPE].topic;
  const { signal } = new AbortController();
  const onMessage = ({ value }: { value: unknown }): void => {
    pending.push(toDelivery(value as ChargeEvent));
    if (!isQueueing) void queueAll();
  };
  const access = accessOfFolder(brokers, identity);
  void tailTopic({ ...access, registryUrl, topic, fromBeginning: true, signal, onMessage });

  async function queueAll(): Promise<void> {
    isQueueing = true;
    while (pending.length > 0) {
      const deliveries = pending.splice(0, BULK_MAX);
      await queue.addBulk(
        deliveries.map((data) => ({ name: EVENT_TYPE, data, opts: { jobId: data.id } })),
      );
    }
    isQueueing = false;
  }
}

function toDelivery({ event_id: id, application_id, type, data }: ChargeEvent): Delivery {
  const [resource, method, action] = type.split('.');
  const createdAt = new Date().toISOString();
  const envelope = { id, object: 'event', event: type, resource, method, action };
  const body = JSON.stringify({ ...envelope, created_at: createdAt, data });
  return { id, url: urls.get(application_id ?? '') ?? '', body };
}

async function post(agent: Agent, delivery: Delivery, secret: string): Promise<number> {
  const { origin, pathname } = new URL(delivery.url);
  const response = await agent.request({
    origin,
    path: pathname,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-webhook-event': EVENT_TYPE,
      'x-webhook-delivery': delivery.id,
      'x-webhook-signature': signWebhookBody(secret, Buffer.from(delivery.body)),
    },
    body: delivery.body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body.dump();
  if (response.statusCode >= 300) throw new Error(`status ${response.statusCode}`);
  return response.statusCode;
}

/** All names lead to the benchmark's receivers. */
function createAgent(port: number): Agent {
  const open = buildConnector({});
  return new Agent({
    connect: (options, callback) =>
      open({ ...options, hostname: '127.0.0.1', port: String(port) }, callback),
  });
}
