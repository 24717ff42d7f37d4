import { createContention } from '@pixmesh/fair-share/contention';
import { NoTurnError } from '@pixmesh/fair-share/no-turn-error';
import { createYoungCalls } from '@pixmesh/fair-share/young-calls';
import type { AccountId } from '@pixmesh/kernel/ids';

/**
 * What sends of one account that have just begun may have of the slots, beside those of others. Where the acquirer
 * answers at once, more would only fill the CPU; where it takes longer, they no longer count (ADR 0023).
 */
const YOUNG_SHARE = 0.25;

/** When a send may begin, by `performance.now()`. */
type SendTurn = { accountId: AccountId; callBeforeMs: number };

/** Begins sends in equal turns by account. One that has no turn in time begins too, and finds by itself that it is late. */
export function createBeginSend(
  slots: number,
): (turn: SendTurn, send: () => Promise<void>) => Promise<void> {
  const beginInTurn = createYoungCalls('young sends', {
    besideOthersMax: Math.ceil(slots * YOUNG_SHARE),
    contention: createContention(),
  });
  return async ({ accountId, callBeforeMs }, send) => {
    try {
      await beginInTurn({ account: accountId, beginBeforeMs: callBeforeMs }, send);
    } catch (error) {
      if (!(error instanceof NoTurnError)) throw error;
      await send();
    }
  };
}
