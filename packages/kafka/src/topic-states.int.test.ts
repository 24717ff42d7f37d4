import { TOPICS } from '@pixmesh/contracts/topics';
import { eventually } from '@pixmesh/testkit/eventually';
import { newId } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startTestMesh, type TestMesh } from './testing/test-mesh.ts';
import { readGroupLags, readTopicStates } from './topic-states.ts';

let mesh: TestMesh;
beforeAll(async () => {
  mesh = await startTestMesh();
});
afterAll(() => mesh[Symbol.asyncDispose]());

test('a topic shows its partitions, what it holds and for how long', async () => {
  const topic = mesh.topicPrefix + TOPICS.ledgerEvents;
  await mesh.sendNumbered(1, 2, 3);
  const [state] = await readTopicStates(mesh.options, [topic]);
  expect(state).toMatchObject({ topic, messages: 3n, retentionMs: 7 * 24 * 3_600_000 });
  expect(state?.partitions).toBeGreaterThan(0);
});

test('a group shows what it has still to handle, by partition', async () => {
  const handled: number[] = [];
  const { groupId, consumer } = mesh.consume(async (number) => void handled.push(number), {
    groupId: newId(),
  });
  await eventually(() => expect(handled).toContain(3));
  await eventually(async () => expect(await lagOf(groupId)).toMatchObject({ lag: 0n, members: 1 }));
  await consumer.stop();
  await mesh.sendNumbered(4, 5);
  await eventually(async () =>
    expect(await lagOf(groupId)).toMatchObject({ lag: 2n, members: 0, state: 'Empty' }),
  );
});

async function lagOf(groupId: string) {
  const lags = await readGroupLags(mesh.options, (group) => group.endsWith(groupId));
  return lags.find(({ partition }) => partition === 0);
}
