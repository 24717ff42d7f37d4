import { within } from '@pixmesh/kernel/within';

import type { Contention } from './contention.ts';
import { WAITING_MAX } from './fair-queue.ts';
import { observeQueue } from './observe-queue.ts';
import { createRecentCalls } from './recent-calls.ts';

/** For how long a call is young. One that takes longer mostly waits for others; to count it would bound slow calls. */
const YOUNG_MS_MAX = 50;
/** An account of which more calls than this begin in a second has them begin in groups, beside those of others. */
const SINGLE_PER_SECOND_MAX = 30;
/** A burst that takes longer is a steady load, which is not to be held back. */
const WAIT_MS_MAX = 1_000;

type YoungCallsOptions = {
  /** Label of its metrics. */
  name: string;
  /** Young calls of one account at once, while no other account calls. */
  aloneMax: number;
  /** The same beside calls of others. */
  besideOthersMax: number;
  /** Whether calls that begin together cost less, because they share statements. */
  inGroups: boolean;
  contention: Contention;
};

/** Calls of one account. */
type Line = {
  account: string;
  young: number;
  /** What begins those that wait, the oldest first. */
  waiting: Set<() => void>;
};

/**
 * Bounds how many calls of one account have just begun. What a call needs first is the CPU of its service: more at once
 * take no less time each, and another account's call waits behind all of them (ADR 0023). Beside calls of others those
 * of an account that makes many may begin in groups: what comes while some are young begins together once none is. The
 * bound spreads calls and refuses none: a call that has waited for a second, or for half of its time, begins all the same.
 *
 * @param timeLeftMs of the call, wait included
 */
export function createYoungCalls({ name, contention, ...bounds }: YoungCallsOptions) {
  const lines = new Map<string, Line>();
  const begun = createRecentCalls();
  const observe = observeQueue(name);
  return async <T>(
    { account, timeLeftMs }: { account: string; timeLeftMs: number },
    call: () => Promise<T>,
  ): Promise<T> => {
    contention.noteCall(account);
    const line = lineOf(account);
    const arrivedMs = performance.now();
    const isYoung = take(line) || (await turnOf(line, timeLeftMs));
    begun.note(account);
    if (!isYoung) return await call();
    const waitedMs = performance.now() - arrivedMs;
    const answer = call();
    void observe.running(() => whileYoung(answer), waitedMs).then(() => endYouth(line));
    return await answer;
  };

  function lineOf(account: string): Line {
    const line = lines.get(account) ?? { account, young: 0, waiting: new Set() };
    lines.set(account, line);
    return line;
  }

  /** Counts a call as young, unless it has to wait. */
  function take(line: Line): boolean {
    if (line.waiting.size > 0 || roomFor(line) <= 0) return false;
    line.young += 1;
    return true;
  }

  /** Resolves when the call may begin: true as one of the young, false as one that waits no more. */
  async function turnOf(line: Line, timeLeftMs: number): Promise<boolean> {
    const { waiting } = line;
    if (waiting.size >= WAITING_MAX) {
      observe.refused('full');
      return false;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const leave = (): void => {
      waiting.delete(begin);
      observe.refused('late');
      resolve(false);
    };
    const timer = setTimeout(leave, Math.min(WAIT_MS_MAX, timeLeftMs / 2));
    const begin = (): void => {
      waiting.delete(begin);
      clearTimeout(timer);
      line.young += 1;
      resolve(true);
    };
    waiting.add(begin);
    observe.waits(1);
    const isYoung = await promise;
    observe.waits(-1);
    return isYoung;
  }

  function endYouth(line: Line): void {
    line.young -= 1;
    const room = Math.max(0, roomFor(line));
    for (const begin of [...line.waiting].slice(0, room)) begin();
    if (line.young === 0 && line.waiting.size === 0) lines.delete(line.account);
  }

  /** How many more calls may begin now. */
  function roomFor({ account, young }: Line): number {
    if (!contention.isContended()) return bounds.aloneMax - young;
    const isGrouped =
      bounds.inGroups && young > 0 && begun.perSecond(account) > SINGLE_PER_SECOND_MAX;
    return isGrouped ? 0 : bounds.besideOthersMax - young;
  }
}

async function whileYoung(answer: Promise<unknown>): Promise<void> {
  await within(YOUNG_MS_MAX, answer.then(ignore, ignore), undefined);
}

function ignore(): void {
  // Its failure is thrown to the caller, which awaits the answer.
}
