import { describe, expect, test } from 'vitest';
import { isFailedBoot, recentDeaths, restartDelayMs } from './restart-policy.ts';

const failedAt = (atMs: number) => ({ atMs, failedBoot: true });
const killedAt = (atMs: number) => ({ atMs, failedBoot: false });

describe('restart policy', () => {
  test('a process that is killed while it is up comes back at once, however often', () => {
    const deaths = Array.from({ length: 50 }, (_, index) => killedAt(index * 100));
    expect(restartDelayMs(deaths, 5_000)).toBe(0);
  });

  test('the first failed boots are answered at once, later ones wait longer and longer', () => {
    const delays = [1, 4, 5, 6, 7, 8, 9, 20].map((count) =>
      restartDelayMs(
        Array.from({ length: count }, () => failedAt(1_000)),
        1_000,
      ),
    );
    expect(delays).toEqual([0, 0, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  });

  test('failed boots are forgotten after the window', () => {
    const deaths = Array.from({ length: 10 }, () => failedAt(0));
    expect(restartDelayMs(deaths, 30_000)).toBe(5_000);
    expect(restartDelayMs([...deaths, failedAt(30_001)], 30_001)).toBe(0);
    expect(recentDeaths(deaths, 30_001)).toEqual([]);
  });

  test('a kill after failed boots is not slowed down by them', () => {
    const deaths = [...Array.from({ length: 10 }, () => failedAt(0)), killedAt(10)];
    expect(restartDelayMs(deaths, 10)).toBe(0);
  });

  test('a life counts as failed when it never was ready or ended by itself right after', () => {
    expect(isFailedBoot({ readyForMs: undefined, signal: 'SIGKILL' })).toBe(true);
    expect(isFailedBoot({ readyForMs: 200, signal: null })).toBe(true);
    expect(isFailedBoot({ readyForMs: 200, signal: 'SIGKILL' })).toBe(false);
    expect(isFailedBoot({ readyForMs: 5_000, signal: null })).toBe(false);
  });
});
