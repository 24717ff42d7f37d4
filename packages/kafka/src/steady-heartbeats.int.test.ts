import { randomUUID } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';
import { afterEach, expect, test, vi } from 'vitest';

import { createToolKafka, withAdmin } from './kafka-client.ts';
import { startTestMesh, type TestMesh } from './testing/test-mesh.ts';

const SESSION_TIMEOUT_MS = 6_000;
const PATIENCE_MS = 40_000;
const HOUR_MS = 3_600_000;

afterEach(() => vi.restoreAllMocks());

test('a member whose clock is set back keeps its place in the group for longer than a session', async () => {
  await using mesh = await startTestMesh();
  const groupId = randomUUID();
  const handled: number[] = [];
  mesh.consume(async (number) => void handled.push(number), { groupId });
  await mesh.sendNumbered(1);
  await eventually(() => expect(handled).toEqual([1]), PATIENCE_MS);
  const members = await readMembers(mesh, groupId);
  const now = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => now() - HOUR_MS);
  const endMs = performance.now() + SESSION_TIMEOUT_MS + 2_000;
  await eventually(() => expect(performance.now()).toBeGreaterThan(endMs), PATIENCE_MS);
  expect(members).toHaveLength(1);
  expect(await readMembers(mesh, groupId)).toEqual(members);
});

async function readMembers({ options, topicPrefix }: TestMesh, groupId: string): Promise<string[]> {
  return await withAdmin(createToolKafka(options, 'test'), async (admin) => {
    const { groups } = await admin.describeGroups([topicPrefix + groupId]);
    return groups.flatMap(({ members }) => members.map(({ memberId }) => memberId));
  });
}
