import { setTimeout as delay } from 'node:timers/promises';

import { requestRestart, requestScale } from '@pixmesh/local-stack/mesh/control-client';

import { killProcess, pidOf } from '../kill-process.ts';
import { waitForRestart } from '../mesh.ts';

export const SERVICES = ['gateway', 'charges', 'payouts', 'ledger', 'webhook-dispatcher'];

/** What was done to a process, and from when to when it could be noticed. */
export type Act = { what: ActName; service: string; name: string; fromMs: number; toMs: number };

export type ActName = 'start' | 'stop' | 'restart' | 'kill' | 'freeze';
export const PLANNED: readonly ActName[] = ['start', 'stop', 'restart'];

const PROCESSES_MIN = 2;
const PROCESSES_MAX = 3;
const FREEZE_MS = 10_000;

/**
 * Begins an act at every interval, at a random process of a service at which nothing else is being done: one of its
 * processes is left alone, so that somebody can serve.
 */
export async function actAtRandom(input: {
  home: string;
  acts: readonly ActName[];
  everyMs: number;
  forMs: number;
  random: () => number;
}): Promise<Act[]> {
  const { home, acts, everyMs, forMs, random } = input;
  const counts = new Map(SERVICES.map((name) => [name, PROCESSES_MIN]));
  const busy = new Set<string>();
  const done: Act[] = [];
  const running: Promise<void>[] = [];
  for (const endMs = Date.now() + forMs; Date.now() < endMs;) {
    const service = pick(SERVICES.filter((name) => !busy.has(name)));
    if (service !== undefined) running.push(actOn(service));
    await delay(everyMs);
  }
  await Promise.all(running);
  return done;

  function pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(random() * from.length)];
  }

  async function actOn(service: string): Promise<void> {
    busy.add(service);
    const count = counts.get(service) ?? PROCESSES_MIN;
    const possible = acts.filter(
      (act) =>
        (act !== 'start' || count < PROCESSES_MAX) && (act !== 'stop' || count > PROCESSES_MIN),
    );
    const number = 1 + Math.floor(random() * count);
    const name = number === 1 ? service : `${service}-${number}`;
    const what = pick(possible) ?? 'restart';
    const fromMs = Date.now();
    const act: Act = { what, service, name, fromMs, toMs: Number.POSITIVE_INFINITY };
    done.push(act);
    await perform(service, { name, what, count });
    act.toMs = Date.now();
    busy.delete(service);
  }

  async function perform(
    service: string,
    { name, what, count }: { name: string; what: ActName; count: number },
  ): Promise<void> {
    const scaleTo = async (processes: number): Promise<void> => {
      await requestScale(home, new Map([[service, processes]]));
      counts.set(service, processes);
    };
    if (what === 'start') return await scaleTo(count + 1);
    if (what === 'stop') return await scaleTo(count - 1);
    if (what === 'restart') return void (await requestRestart(home, name));
    if (what === 'freeze') return await freeze(name);
    await killProcess(name);
    await waitForRestart(name, undefined);
  }
}

async function freeze(name: string): Promise<void> {
  const pid = pidOf(name);
  process.kill(pid, 'SIGSTOP');
  try {
    await delay(FREEZE_MS);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}
