import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { renderBrokerRights } from '../../test/render-broker-rights.ts';
import { TOPICS } from '../topics.ts';
import { BROKER_RIGHTS, brokerAcls } from './broker-rights.ts';
import { CONSUMER_GROUPS } from './consumer-groups.ts';

const ARCHITECTURE = path.resolve(import.meta.dirname, '../../../../ARCHITECTURE.md');

test('ARCHITECTURE.md shows the rights at the broker as they are', () => {
  expect(readFileSync(ARCHITECTURE, 'utf8')).toContain(renderBrokerRights());
});

test('every topic has one that writes it, and one group of each reader', () => {
  const rights = Object.values(BROKER_RIGHTS);
  for (const topic of Object.values(TOPICS)) {
    expect(rights.some(({ writes }) => writes.includes(topic))).toBe(true);
    expect(rights.some(({ reads }) => reads.includes(topic))).toBe(true);
  }
  const groups = rights.flatMap((right) => right.groups);
  expect(groups.toSorted()).toEqual(
    Object.values(CONSUMER_GROUPS)
      .map(({ groupId }) => groupId)
      .toSorted(),
  );
});

test('nothing is permitted outside of the prefix of an installation, and nothing to tools in production', () => {
  const acls = brokerAcls({ prefix: 'a.', tools: false });
  expect(acls.filter(({ name }) => !name.startsWith('a.'))).toEqual([]);
  expect(acls.filter(({ match }) => match === 'prefixed')).toEqual([]);
  expect(acls.filter(({ principal }) => principal === 'User:tools')).toEqual([]);
  expect(brokerAcls({ prefix: '', tools: true }).length).toBeGreaterThan(acls.length);
});
