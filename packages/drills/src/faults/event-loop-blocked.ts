import { setTimeout as delay } from 'node:timers/promises';

import type { Drill } from '../drill.ts';
import type { DrillMesh } from '../mesh/drill-mesh.ts';
import { payoutsAtRest } from './payouts-at-rest.ts';

const HELD_MS = 900;
const FREE_MS = 300;
const HELD_SECONDS_MIN = 0.5;

let blocking = new AbortController();
let blocked = Promise.resolve();

/** It answers late, and still answers. */
export const eventLoopBlocked: Drill = {
  name: 'event-loop-blocked',
  purpose: 'the process of payouts stands still for most of every second',
  alerts: ['EventLoopBlocked'],
  cause: async (mesh) => {
    blocking = new AbortController();
    blocked = block(mesh, blocking.signal);
  },
  effect: async (mesh) => {
    const lag = await mesh.metric('payouts', 'nodejs_eventloop_lag_p99_seconds');
    if (lag < HELD_SECONDS_MIN) throw new Error(`it was held up for ${lag} s`);
  },
  end: async () => {
    blocking.abort();
    await blocked;
  },
  recovered: payoutsAtRest,
};

async function block(mesh: DrillMesh, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    mesh.signal('payouts', 'SIGSTOP');
    await delay(HELD_MS);
    mesh.signal('payouts', 'SIGCONT');
    await delay(FREE_MS);
  }
}
