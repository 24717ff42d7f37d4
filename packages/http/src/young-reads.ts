import { createFairQueue, WAITING_MAX } from '@pixmesh/fair-share/fair-queue';
import { fourTimesFree } from '@pixmesh/fair-share/share-of-places';
import { within } from '@pixmesh/kernel/within';

/**
 * Reads that have just begun, of which one account alone has four: more at once take no less time each, and the next
 * account's read would wait behind all of them in its service. What takes longer waits for something else than its CPU
 * and no longer counts.
 */
const YOUNG_MAX = 5;
const YOUNG_MS_MAX = 50;

/**
 * Begins reads of one service a few at a time, in equal turns by account (ADR 0023). The function rejects with a
 * `NoTurnError` where a read has no turn before `beginBeforeMs`, on the clock of `performance.now()`.
 */
export function createYoungReads(service: string) {
  const turns = createFairQueue({
    name: `${service} young reads`,
    places: YOUNG_MAX,
    share: fourTimesFree,
    waitingMax: WAITING_MAX,
    waitMsMax: Number.POSITIVE_INFINITY,
  });
  return async <T>(
    turn: { account: string; beginBeforeMs: number },
    read: () => Promise<T>,
  ): Promise<T> => {
    const begin = () => whileYoung(read());
    const { answer } = await turns.run(turn.account, begin, { beginBeforeMs: turn.beginBeforeMs });
    return await answer;
  };
}

/** Resolves when the read has ended, or is not young any more; the answer is still to come then. */
async function whileYoung<T>(answer: Promise<T>): Promise<{ answer: Promise<T> }> {
  const ended = answer.then(ignore, ignore);
  await within(YOUNG_MS_MAX, ended, undefined);
  return { answer };
}

function ignore(): void {
  // Its failure is thrown to whoever awaits the answer.
}
