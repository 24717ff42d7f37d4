import type { Contention } from './contention.ts';
import { createFairQueue, WAITING_MAX } from './fair-queue.ts';
import { within } from '@pixmesh/kernel/within';

/** What takes longer waits for something else than the CPU of its service, and no longer counts. */
const YOUNG_MS_MAX = 50;

/**
 * Begins calls of one kind to a service in equal turns by account (ADR 0023). Beside calls of others, no more than
 * `besideOthersMax` of one account have just begun: more at once take no less time each, and the next account's call
 * would wait behind all of them in its service. An account that is alone has no bound. The function rejects with a
 * `NoTurnError` where a call has no turn before `beginBeforeMs`, on the clock of `performance.now()`.
 */
export function createYoungCalls(
  name: string,
  { besideOthersMax, contention }: { besideOthersMax: number; contention: Contention },
) {
  const turns = createFairQueue({
    name,
    places: Number.POSITIVE_INFINITY,
    share: (held) => held < besideOthersMax,
    waitingMax: WAITING_MAX,
    waitMsMax: Number.POSITIVE_INFINITY,
  });
  return async <T>(
    { account, beginBeforeMs }: { account: string; beginBeforeMs: number },
    call: () => Promise<T>,
  ): Promise<T> => {
    if (!contention.isContended(account)) return await call();
    const begin = () => whileYoung(call());
    const { answer } = await turns.run(account, begin, { beginBeforeMs });
    return await answer;
  };
}

/** Resolves when the call has ended, or is not young any more; the answer is still to come then. */
async function whileYoung<T>(answer: Promise<T>): Promise<{ answer: Promise<T> }> {
  const ended = answer.then(ignore, ignore);
  await within(YOUNG_MS_MAX, ended, undefined);
  return { answer };
}

function ignore(): void {
  // Its failure is thrown to whoever awaits the answer.
}
