import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

import type { PlannedAnswer } from './behaviour.ts';

const CHUNK_BYTES = 64 * 1024;
const FILLER = Buffer.alloc(CHUNK_BYTES, 'x');

/** Answers as planned, or holds the connection until its other end closes it. */
export async function sendPlannedAnswer(
  response: ServerResponse,
  plan: PlannedAnswer,
): Promise<void> {
  if (plan.status === null) return;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    if (plan.delayMs > 0) await delay(plan.delayMs, undefined, { signal: gone.signal });
    response.writeHead(plan.status, plan.headers);
    const pieceBytes = plan.dripIntervalMs === null ? CHUNK_BYTES : 1;
    for (let left = plan.bodyBytes; left > 0; left -= pieceBytes) {
      const taken = response.write(FILLER.subarray(0, Math.min(left, pieceBytes)));
      if (!taken) await once(response, 'drain', { signal: gone.signal });
      if (plan.dripIntervalMs !== null) {
        await delay(plan.dripIntervalMs, undefined, { signal: gone.signal });
      }
    }
    response.end();
  } catch (error) {
    // The other end has gone: that is what slow answers are for.
    if (!gone.signal.aborted) throw error;
  }
}
