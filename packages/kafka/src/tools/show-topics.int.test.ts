import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import { TOPICS } from '@pixmesh/contracts/topics';
import { newId } from '@pixmesh/kernel/ids';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startTestMesh, type TestMesh } from '../testing/test-mesh.ts';
import { showLags, showTopics } from './show-topics.ts';

let mesh: TestMesh;
beforeAll(async () => {
  mesh = await startTestMesh();
});
afterAll(() => mesh[Symbol.asyncDispose]());

test('the groups of an installation are those of its prefix, and no group of others is shown', async () => {
  const { groupId } = CONSUMER_GROUPS.chargesLedgerEvents;
  const foreign = newId();
  const handled = { [groupId]: 0, [foreign]: 0 };
  const consumers = Object.keys(handled).map(
    (one) =>
      mesh.consume(async () => void (handled[one] = (handled[one] ?? 0) + 1), { groupId: one })
        .consumer,
  );
  await mesh.sendNumbered(1, 2, 3);
  await eventually(() => expect(handled).toEqual({ [groupId]: 3, [foreign]: 3 }));
  await Promise.all(consumers.map((consumer) => consumer.stop()));
  await mesh.sendNumbered(4, 5);
  await eventually(async () => {
    const shown = await showLags(mesh.options, mesh.topicPrefix);
    const row = shown.split('\n').find((line) => line.endsWith(' 2'));
    expect(row).toContain(`${mesh.topicPrefix}${groupId}`);
    expect(row).toContain(`${mesh.topicPrefix}${TOPICS.ledgerEvents}`);
    expect(shown).toContain('\n2 messages to handle in all');
    expect(shown).not.toContain(foreign);
  });
  expect(await showLags(mesh.options, `${mesh.topicPrefix}other.`)).toContain('0 messages');
});

test('the topics of an installation are those of its prefix, with their subjects, which have none', async () => {
  const lines = (await showTopics(mesh.options, mesh.topicPrefix)).split('\n');
  expect(lines).toHaveLength(1 + Object.keys(TOPICS).length);
  const name = `${mesh.topicPrefix}${TOPICS.ledgerEvents}`;
  const line = lines.find((one) => one.startsWith(name)) ?? '';
  expect(line.slice(name.length)).toContain(`${TOPICS.ledgerEvents}-`);
  expect(line.slice(name.length)).not.toContain(mesh.topicPrefix);
});
