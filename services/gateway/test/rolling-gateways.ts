import { eventually } from '@pixmesh/testkit/eventually';
import { expect } from 'vitest';

import type { Gateway } from '#service.ts';

import type { TestGateway } from './start-test-gateway.ts';

const GATEWAYS = 2;

type Settings = Record<string, string>;
type Member = { gateway: Gateway; calls: number };

/** Two gateways on one database, replaced one after the other as a rolling restart does. */
export type RollingGateways = AsyncDisposable & {
  /** Calls one of them, in turn. */
  call<T>(work: (ports: Gateway['ports']) => Promise<T>): Promise<T>;
  /**
   * Replaces each by one with other settings. The next starts when the one before serves, and has served for a while;
   * none ends under a call.
   */
  roll(settings: Settings, pauseMs?: number): Promise<void>;
};

export async function startRollingGateways(
  { startBeside }: TestGateway,
  settings: Settings,
): Promise<RollingGateways> {
  const members: Member[] = [];
  let turn = 0;
  for (let n = 0; n < GATEWAYS; n += 1) members.push(await start(settings));
  return {
    call: async (work) => {
      const member = members[(turn += 1) % members.length] as Member;
      member.calls += 1;
      try {
        return await work(member.gateway.ports);
      } finally {
        member.calls -= 1;
      }
    },
    roll: async (next, pauseMs = 0) => {
      for (const [place, former] of members.entries()) {
        members[place] = await start(next);
        await end(former);
        const goesOnMs = performance.now() + pauseMs;
        await eventually(
          () => expect(performance.now()).toBeGreaterThan(goesOnMs),
          2 * pauseMs + 1_000,
        );
      }
    },
    [Symbol.asyncDispose]: async () => void (await Promise.all(members.map(end))),
  };

  async function start(environment: Settings): Promise<Member> {
    return { gateway: await startBeside(environment), calls: 0 };
  }

  async function end(member: Member): Promise<void> {
    await eventually(() => expect(member.calls).toBe(0));
    await member.gateway[Symbol.asyncDispose]();
  }
}
