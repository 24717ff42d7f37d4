import { expect, test } from 'vitest';

import { readReplicaCount } from './replicas.ts';

test('there is one process of every service, unless more are asked for', () => {
  expect(readReplicaCount({})).toBe(1);
  expect(readReplicaCount({ PIXMESH_REPLICAS: '2' })).toBe(2);
});

test.each(['0', '1.5', '5', 'two', ''])('"%s" replicas are refused by name', (text) => {
  expect(() => readReplicaCount({ PIXMESH_REPLICAS: text })).toThrow('PIXMESH_REPLICAS');
});
