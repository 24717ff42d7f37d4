import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { ownProcess } from '@pixmesh/testkit/owned-process';
import { testBroker, testIdentityFolder, testInfra } from '@pixmesh/testkit/test-infra';
import { describe, expect, test } from 'vitest';

import { createToolKafka } from './kafka-client.ts';
import { createTopics } from './topics.ts';
import { warmCodec } from './schema-registry.ts';
import { startTestMesh, type TestMesh } from './testing/test-mesh.ts';

const SESSION_TIMEOUT_MS = 6_000;
const PATIENCE_MS = 40_000;
const HANGING_CONSUMER = fileURLToPath(new URL('testing/hanging-consumer.ts', import.meta.url));

// Each of these waits for a timeout of the broker; side by side they take as long as one.
describe.concurrent('a consumer endures', { timeout: 90_000 }, () => {
  test('a handler that outlasts the session: it is not evicted, and nothing is handled twice', async () => {
    await using mesh = await startTestMesh();
    const handled: number[] = [];
    const groupId = randomUUID();
    const slowly = async (number: number): Promise<void> => {
      const endMs = performance.now() + (number === 1 ? SESSION_TIMEOUT_MS + 2_000 : 0);
      await eventually(() => expect(performance.now()).toBeGreaterThan(endMs), PATIENCE_MS);
      handled.push(number);
    };
    const { parked } = mesh.consume(slowly, { groupId });
    await mesh.sendNumbered(1, 2);
    await eventually(() => expect(handled).toEqual([1, 2]), PATIENCE_MS);
    // Whoever joins now would be given the messages again if the first member had lost its place.
    await mesh.sendNumbered(3);
    await eventually(() => expect(handled).toEqual([1, 2, 3]));
    expect(parked).toEqual([]);
  });

  test('a member killed with a message in hand: another one gets the message', async () => {
    await using mesh = await startTestMesh();
    const groupId = randomUUID();
    await mesh.sendNumbered(1, 2);
    const child = startHangingConsumer(mesh, groupId);
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    const handled: number[] = [];
    mesh.consume(async (number) => void handled.push(number), { groupId });
    await eventually(() => expect(handled).toEqual([1, 2]), PATIENCE_MS);
  });

  test('two members killed one after the other: the dead one that leads the group holds it up for its session only', async () => {
    await using mesh = await startTestMesh();
    const groupId = randomUUID();
    await mesh.sendNumbered(1, 2);
    const first = startHangingConsumer(mesh, groupId);
    await once(first.stdout, 'data');
    first.kill('SIGKILL');
    const second = startHangingConsumer(mesh, groupId);
    const admin = createToolKafka(mesh.options, 'test').admin();
    await admin.connect();
    await eventually(async () => {
      const { groups } = await admin.describeGroups([mesh.topicPrefix + groupId]);
      expect(groups[0]?.members).toHaveLength(2);
    }, PATIENCE_MS);
    await admin.disconnect();
    second.kill('SIGKILL');
    const handled: number[] = [];
    mesh.consume(async (number) => void handled.push(number), { groupId });
    await eventually(() => expect(handled).toEqual([1, 2]), PATIENCE_MS);
  });

  test('topics that appear after it has started', async () => {
    await using mesh = await startTestMesh();
    const topicPrefix = `test-${randomBytes(6).toString('hex')}.`;
    const handled: number[] = [];
    mesh.consume(async (number) => void handled.push(number), { topicPrefix });
    await createTopics({
      ...mesh.options,
      ...testBroker('deploy'),
      topicPrefix,
      partitions: 1,
      replicationFactor: 1,
      minInsyncReplicas: 1,
    });
    await mesh.sendNumberedTo(topicPrefix, 1);
    await eventually(() => expect(handled).toEqual([1]), PATIENCE_MS);
  });

  test('an unknown schema id while the registry is away: the message waits, and is handled after', async () => {
    await using mesh = await startTestMesh();
    await using registry = await startRegistryProxy(testInfra().registryUrl);
    // This codec knows no schema, so that it has to ask for the id of the first message.
    const codec = await warmCodec(registry.url, []);
    registry.setAway(true);
    const handled: number[] = [];
    const { parked } = mesh.consume(async (number) => void handled.push(number), { codec });
    await mesh.sendNumbered(1);
    await eventually(() => expect(registry.refused()).toBeGreaterThan(1), PATIENCE_MS);
    registry.setAway(false);
    await eventually(() => expect(handled).toEqual([1]), PATIENCE_MS);
    expect(parked).toEqual([]);
  });

  test('a broker that is away: the log says so once, and the process stays alive', async () => {
    const lines: unknown[] = [];
    const logger = createLogger('test', 'silent');
    logger.warn = (...line: unknown[]) => void lines.push(line);
    await using mesh = await startTestMesh();
    const { consumer } = mesh.consume(async () => undefined, { brokers: ['127.0.0.1:1'], logger });
    await eventually(() => expect(lines).toHaveLength(1), PATIENCE_MS);
    expect(consumer.isAlive()).toBe(true);
  });
});

function startHangingConsumer(mesh: TestMesh, groupId: string) {
  const [broker = ''] = mesh.options.brokers;
  const { registryUrl } = testInfra();
  const identity = testIdentityFolder('tools');
  const command = [HANGING_CONSUMER, broker, identity, registryUrl, mesh.topicPrefix, groupId];
  return ownProcess(spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] }));
}

/** Passes requests on to the registry, or cuts them off. */
async function startRegistryProxy(target: string) {
  let isAway = false;
  let refused = 0;
  const server: Server = createServer((incoming, outgoing) => {
    if (isAway) {
      refused += 1;
      incoming.socket.destroy();
      return;
    }
    const { method, headers } = incoming;
    const onward = request(new URL(incoming.url ?? '/', target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setAway: (away: boolean) => {
      isAway = away;
    },
    refused: () => refused,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
