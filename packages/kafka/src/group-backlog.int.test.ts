import { TOPICS } from '@pixmesh/contracts/topics';
import { newId } from '@pixmesh/kernel/ids';
import { eventually } from '@pixmesh/testkit/eventually';
import { freePorts } from '@pixmesh/testkit/free-ports';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createGroupBacklog } from './group-backlog.ts';
import { startTestMesh, type TestMesh } from './testing/test-mesh.ts';

let mesh: TestMesh;
beforeAll(async () => {
  mesh = await startTestMesh();
});
afterAll(() => mesh[Symbol.asyncDispose]());

function backlogOf(groupId: string, brokers = mesh.options.brokers) {
  const { topicPrefix } = mesh;
  const topics = [TOPICS.ledgerEvents];
  return createGroupBacklog({ ...mesh.options, brokers, topicPrefix, groupId, topics });
}

test('what a group has not handled is counted, also before and after any process of it lives', async () => {
  await mesh.sendNumbered(1, 2, 3);
  const handled: number[] = [];
  const groupId = newId();
  await eventually(async () => expect(await backlogOf(groupId).count()).toBe(3));
  const { consumer } = mesh.consume(async (number) => void handled.push(number), { groupId });
  await eventually(async () => expect(await backlogOf(groupId).count()).toBe(0));
  await consumer.stop();
  await mesh.sendNumbered(4, 5);
  await eventually(async () => expect(await backlogOf(groupId).count()).toBe(2));
});

test('a group has handled all that was published before what it has not', async () => {
  const groupId = newId();
  const beforeMs = Date.now();
  const handledUntilMs = async () => (await backlogOf(groupId).handledUntil())?.getTime();
  await mesh.sendNumbered(6);
  await eventually(async () => expect(await handledUntilMs()).toBeLessThan(beforeMs));
  mesh.consume(async () => undefined, { groupId });
  await eventually(async () => expect(await handledUntilMs()).toBeGreaterThan(beforeMs));
});

test('a count is shared for some seconds, and not known where the broker does not answer', async () => {
  const groupId = newId();
  const backlog = backlogOf(groupId);
  const first = await backlog.count();
  expect(first).toBeGreaterThan(0);
  await mesh.sendNumbered(7);
  expect(await backlog.count()).toBe(first);
  const [port = 0] = await freePorts(1);
  const away = backlogOf(groupId, [`127.0.0.1:${port}`]);
  expect([await away.count(), await away.handledUntil()]).toEqual([null, null]);
});
