import { TOPICS } from '@pixmesh/contracts/topics';
import { eventually } from '@pixmesh/testkit/eventually';
import { testBroker, testInfra } from '@pixmesh/testkit/test-infra';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { tailTopic } from './tail.ts';
import { startTestMesh, type TestMesh } from './testing/test-mesh.ts';

let mesh: TestMesh;
beforeAll(async () => {
  mesh = await startTestMesh();
});
afterAll(() => mesh[Symbol.asyncDispose]());

test('a tail tells when it has read all of a topic, an empty one too', async () => {
  // The partitions of a new topic have no leaders for a moment.
  const empty = await eventually(readToPresentEnd);
  expect(empty).toMatchObject({ offsets: [], ends: 1 });
  await mesh.sendNumbered(1, 2, 3);
  const { offsets, ends, partitions } = await readToPresentEnd();
  expect({ offsets, ends }).toEqual({ offsets: ['0', '1', '2'], ends: 1 });
  expect(partitions).toBe(empty.partitions);
  expect(partitions).toBeGreaterThan(1);
});

/** Ends by itself: the present end aborts the tail. */
async function readToPresentEnd() {
  const stop = new AbortController();
  const seen = { offsets: [] as string[], ends: 0, partitions: 0 };
  await tailTopic({
    ...testBroker(),
    registryUrl: testInfra().registryUrl,
    topic: mesh.topicPrefix + TOPICS.ledgerEvents,
    fromBeginning: true,
    signal: stop.signal,
    onMessage: ({ offset }) => seen.offsets.push(offset),
    onPresentEnd: (partitions) => {
      seen.ends += 1;
      seen.partitions = partitions;
      stop.abort();
    },
  });
  return seen;
}
