import { expect, test } from 'vitest';
import { assignPorts } from './allocate-ports.ts';
import { portVariable, readFixedPorts } from './fixed-ports.ts';

test('a fixed port stays fixed and is given to no other slot', () => {
  const assigned = assignPorts(['a', 'b', 'c'], [101, 102, 103], new Map([['c', 101]]));
  expect([...assigned]).toEqual([
    ['a', 102],
    ['b', 103],
    ['c', 101],
  ]);
});

test('a slot without a port is a bug', () => {
  expect(() => assignPorts(['a', 'b'], [1], new Map())).toThrow('more port slots');
});

test('the variable is named after the slot', () => {
  expect(portVariable('gateway')).toBe('PIXMESH_GATEWAY_PORT');
  expect(portVariable('kafka-controller')).toBe('PIXMESH_KAFKA_CONTROLLER_PORT');
});

test('ports are read from the environment, and nonsense is refused by name', () => {
  expect(readFixedPorts(['a', 'b'], { PIXMESH_A_PORT: '8080' })).toEqual(new Map([['a', 8080]]));
  expect(() => readFixedPorts(['a'], { PIXMESH_A_PORT: '99999' })).toThrow('PIXMESH_A_PORT');
  expect(() => readFixedPorts(['a'], { PIXMESH_A_PORT: 'x' })).toThrow('PIXMESH_A_PORT');
});
