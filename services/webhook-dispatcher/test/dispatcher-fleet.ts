import { eventually } from '@pixmesh/testkit/eventually';

import { startDispatcherProcess, type DispatcherProcess } from './dispatcher-process.ts';
import type { Death, RunRecord } from './verify-deliveries.ts';

const REPEATS = 'webhook_repeated_sends_total';
const COUNT_MS_MAX = 2_000;

/** One process of the dispatcher; `sender` numbers those that send. */
type Member = { env: NodeJS.ProcessEnv; sender: number | null };

export type DispatcherFleet = AsyncDisposable & {
  /** Kills one of those that are ready, chosen by a draw between 0 and 1, and starts it again at once. */
  killOne(draw: number): Promise<void>;
  /** Resolves once the processes that were started again are ready. */
  untilReady(): Promise<void>;
  readonly deaths: readonly Death[];
  /** Processes that ended by themselves; they are started again too. */
  ownEnds(): number;
  /** What every sender that ever ran has said of its repeats. */
  readCounts(): Promise<RunRecord['counts']>;
};

type Running = Member & { process: DispatcherProcess; fromMs: number };

/** Processes of the dispatcher in separate roles, and a supervisor that starts again what ends. */
export async function startDispatcherFleet(members: readonly Member[]): Promise<DispatcherFleet> {
  const running = new Set<Running>();
  const starting = new Set<Promise<void>>();
  const deaths: Death[] = [];
  const counts: RunRecord['counts'][number][] = [];
  let ownEnds = 0;
  let isStopping = false;
  await Promise.all(members.map(start));
  return {
    deaths,
    ownEnds: () => ownEnds,
    killOne,
    untilReady: async () => {
      while (starting.size > 0) await Promise.all(starting);
    },
    readCounts: async () => [...counts, ...(await Promise.all([...running].map(count))).flat()],
    [Symbol.asyncDispose]: async () => {
      isStopping = true;
      await Promise.allSettled(starting);
      await Promise.all([...running].map(({ process }) => process.stop()));
    },
  };

  async function start(member: Member): Promise<void> {
    const fromMs = Date.now();
    const process = await startStubbornly(member.env);
    const one = { ...member, process, fromMs };
    running.add(one);
    void watch(one);
  }

  /** A machine with too much to do may not have it ready in time; then it is tried once more. */
  async function startStubbornly(env: NodeJS.ProcessEnv): Promise<DispatcherProcess> {
    return await startDispatcherProcess(env).catch(() => startDispatcherProcess(env));
  }

  async function watch(one: Running): Promise<void> {
    await one.process.ended();
    if (isStopping || !running.has(one)) return;
    ownEnds += 1;
    replace(one);
  }

  async function killOne(draw: number): Promise<void> {
    while (running.size === 0) await Promise.race(starting);
    const one = [...running][Math.floor(draw * running.size)]!;
    counts.push(...(await count(one)));
    // It may have ended by itself meanwhile, and is counted and replaced as such.
    if (!running.has(one)) return;
    replace(one);
    one.process.kill();
  }

  /** Notes the death and starts the next process in its place, before the old one is gone. */
  function replace(one: Running): void {
    running.delete(one);
    const death = { sender: one.sender, atMs: Date.now(), readyMs: Infinity };
    deaths.push(death);
    const started = startAgain();
    starting.add(started);

    async function startAgain(): Promise<void> {
      await start(one);
      death.readyMs = Date.now();
      starting.delete(started);
    }
  }

  async function count(one: Running): Promise<RunRecord['counts']> {
    const { process, sender, fromMs } = one;
    if (sender === null) return [];
    const untilMs = Date.now();
    // A connection that was kept may be closed just as it is used again.
    const asked = eventually(() => process.readCounter(REPEATS), COUNT_MS_MAX);
    const repeats = await asked.catch((error: unknown) => {
      // What it had counted went with it.
      if (!running.has(one)) return null;
      throw error;
    });
    return repeats === null ? [] : [{ sender, fromMs, untilMs, repeats }];
  }
}
