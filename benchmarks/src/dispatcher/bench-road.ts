import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';

import { generateSealingKeyPair } from '@pixmesh/kernel/sealed-secret';
import { identityFolder } from '@pixmesh/local-stack/infra/identities';
import { startInfra } from '@pixmesh/local-stack/infra/start-infra';

import { assertDurable, describeMachine } from '../durable-server.ts';
import { prepareServices, type ServiceInfra } from '../service-process.ts';
import type { BaselineCalls } from './baseline-server.ts';
import { type Child, startChild } from '../child-calls.ts';
import type { DispatcherSettings } from './dispatcher-process.ts';
import { makeEndpoints, type MerchantEndpoint, storeEndpoints } from './merchant-endpoints.ts';
import type { ProducerCalls } from './producer-process.ts';
import type { ReceiverCalls } from './receiver-process.ts';
import { TOPIC_PREFIXES } from './sides.ts';

const HOME = '.pixmesh-bench-dispatcher';
const SECRET_BYTES = 24;
const RECEIVER = new URL('./receiver-process.ts', import.meta.url);
const PRODUCER = new URL('./producer-process.ts', import.meta.url);
const BASELINE = new URL('./baseline-server.ts', import.meta.url);

/** Everything around the dispatcher: the infrastructure, who publishes, who receives, and the baseline. */
export type Road = AsyncDisposable & {
  readonly infra: ServiceInfra;
  readonly settings: DispatcherSettings;
  readonly producer: Child<ProducerCalls>;
  readonly receivers: Child<ReceiverCalls>;
  readonly baseline: Child<BaselineCalls>;
  /** Of the infrastructure. */
  readonly pids: Readonly<Record<string, number>>;
  /** Known to both sides. */
  register: Register;
};

type Register = (...list: Parameters<typeof makeEndpoints>) => Promise<MerchantEndpoint[]>;

/** Boots an empty infrastructure of its own, `fsync` on, and the processes of the benchmark. */
export async function openRoad(): Promise<Road> {
  await using stack = new AsyncDisposableStack();
  const home = path.resolve(process.env['PIXMESH_BENCH_HOME'] ?? HOME);
  rmSync(home, { recursive: true, force: true });
  const infra = stack.use(await startInfra({ home, mode: 'processes' }));
  const { urls } = infra;
  const served = { ...urls, home: infra.home };
  const pids = Object.fromEntries(infra.processes.map(({ name, pid }) => [name, pid]));
  if (!('postgres' in pids))
    throw new Error('the infrastructure must be of its own: unset its URLs');
  console.log(describeMachine());
  await assertDurable(urls.postgresUrl);
  for (const topicPrefix of Object.values(TOPIC_PREFIXES))
    await prepareServices(served, topicPrefix);
  const children = {
    receivers: stack.use(startChild<ReceiverCalls>(RECEIVER)),
    producer: stack.use(startChild<ProducerCalls>(PRODUCER)),
    baseline: stack.use(startChild<BaselineCalls>(BASELINE)),
  };
  const secret = randomBytes(SECRET_BYTES).toString('hex');
  const sealing = generateSealingKeyPair();
  const { port } = await children.receivers.call('listen', { secret });
  const identity = identityFolder(infra.home, 'tools');
  const broker = { brokers: urls.kafkaBrokers, identity, registryUrl: urls.registryUrl };
  await children.producer.call('connect', broker);
  const receiver = { redis: urls.redis, receiverPort: port };
  await children.baseline.call('start', { ...broker, ...receiver, secret });
  const owned = stack.move();
  return {
    infra: served,
    settings: { ...receiver, sealing },
    ...children,
    pids,
    register: async (...list) => {
      const endpoints = makeEndpoints(...list);
      const keys = { secret, sealingPublicKey: sealing.publicKey };
      await storeEndpoints(urls.postgresUrl, endpoints, keys);
      await children.baseline.call('register', { endpoints });
      return endpoints;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
