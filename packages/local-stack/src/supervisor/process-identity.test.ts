import { expect, test } from 'vitest';
import { isAlive, parseStat, readProcessStart } from './process-identity.ts';
import { findLeftovers } from './pid-file.ts';

test('state and start are found behind a name with spaces and brackets', () => {
  const rest = Array.from({ length: 18 }, (_, index) => index).join(' ');
  const stat = `42 (a (strange) name) S ${rest} 987654 0 0`;
  expect(parseStat(stat)).toEqual({ state: 'S', startTicks: '987654' });
});

test('nothing is made of an unreadable stat', () => {
  expect(parseStat('')).toBeUndefined();
});

test('this process is alive as itself and not as another one with its pid', () => {
  const startedAt = readProcessStart(process.pid);
  expect(startedAt).toBeDefined();
  expect(isAlive({ pid: process.pid, startedAt: startedAt! })).toBe(true);
  expect(isAlive({ pid: process.pid, startedAt: 'another-boot:1' })).toBe(false);
});

test('of a pid file only processes with the noted start are taken for leftovers', () => {
  const startedAt = readProcessStart(process.pid)!;
  const one = { name: 'redis', stopSignal: 'SIGTERM', stage: 20, pid: process.pid } as const;
  const processes = [
    { ...one, startedAt },
    { ...one, startedAt: 'another-boot:1' },
  ];
  const supervisor = { pid: 1, startedAt: 'x' };
  expect(findLeftovers({ supervisor, guardian: null, runMark: 'A=b', processes })).toEqual([
    processes[0],
  ]);
});
