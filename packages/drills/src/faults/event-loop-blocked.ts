import { setTimeout as delay } from 'node:timers/promises';

import type { Drill } from '../drill.ts';
import { atRest } from './at-rest.ts';
import { repeat, type Repetition } from './repeat.ts';

const HELD_MS = 900;
const FREE_MS = 300;
const HELD_SECONDS_MIN = 0.5;

let blocking: Repetition | undefined;

/** It answers late, and still answers. */
export const eventLoopBlocked: Drill = {
  name: 'event-loop-blocked',
  purpose: 'the process of payouts stands still for most of every second',
  alerts: ['EventLoopBlocked'],
  cause: async (mesh) => {
    blocking = repeat(FREE_MS, async () => {
      mesh.signal('payouts', 'SIGSTOP');
      await delay(HELD_MS);
      mesh.signal('payouts', 'SIGCONT');
    });
  },
  effect: async (mesh) => {
    const lag = await mesh.metric('payouts', 'nodejs_eventloop_lag_p99_seconds');
    if (lag < HELD_SECONDS_MIN) throw new Error(`it was held up for ${lag} s`);
  },
  end: async () => await blocking?.stop(),
  recovered: atRest('payouts'),
};
