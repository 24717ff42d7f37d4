import { within } from '@pixmesh/kernel/within';

import type { Contention } from './contention.ts';
import { createFairQueue, WAITING_MAX } from './fair-queue.ts';
import { NoTurnError } from './no-turn-error.ts';

/** For how long a call is young. One that takes longer mostly waits for others; to count it would bound slow calls. */
const YOUNG_MS_MAX = 50;
/** A burst that takes longer is a steady load, which is not to be held back. */
const WAIT_MS_MAX = 1_000;

type YoungCallsOptions = {
  /** Label of its metrics. */
  name: string;
  /** Young calls of one account at once, while no other account calls. */
  aloneMax: number;
  /** The same beside calls of others. */
  besideOthersMax: number;
  contention: Contention;
};

/**
 * Bounds how many calls of one account have just begun. What a call needs first is the CPU of its service: more at once
 * take no less time each, and another account's call waits behind all of them (ADR 0023). The bound spreads calls and
 * refuses none: a call that has waited for a second, or for half of its time, begins all the same.
 *
 * @param timeLeftMs of the call, wait included
 */
export function createYoungCalls({ name, contention, ...bounds }: YoungCallsOptions) {
  const turns = createFairQueue({
    name,
    places: Number.POSITIVE_INFINITY,
    share: (held) => held < (contention.isContended() ? bounds.besideOthersMax : bounds.aloneMax),
    waitingMax: WAITING_MAX,
    waitMsMax: WAIT_MS_MAX,
  });
  return async <T>(
    { account, timeLeftMs }: { account: string; timeLeftMs: number },
    call: () => Promise<T>,
  ): Promise<T> => {
    contention.noteCall(account);
    const begin = async () => await whileYoung(call());
    const beginBeforeMs = performance.now() + timeLeftMs / 2;
    const begun = await turns.run(account, begin, { beginBeforeMs }).catch(noTurn);
    return await (begun === null ? call() : begun.answer);
  };
}

/** Resolves when the call has ended, or is not young any more; the answer may be still to come then. */
async function whileYoung<T>(answer: Promise<T>): Promise<{ answer: Promise<T> }> {
  const ended = answer.then(ignore, ignore);
  await within(YOUNG_MS_MAX, ended, undefined);
  return { answer };
}

function ignore(): void {
  // Its failure is thrown to the caller, which awaits the answer.
}

/** Only the queue throws here: what a call throws comes with its answer. */
function noTurn(error: unknown): null {
  if (error instanceof NoTurnError) return null;
  throw error;
}
