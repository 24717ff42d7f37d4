import { setTimeout as delay } from 'node:timers/promises';

import type { Drill } from '../drill.ts';

const CALLS_MIN = 30;
const PAUSE_MS = 500;

let calling = new AbortController();

/** Genuine callbacks go on being taken. */
export const callbacksRefused: Drill = {
  name: 'callbacks-refused',
  purpose: 'somebody calls the callback listener without its secret',
  alerts: ['CallbacksRefused'],
  cause: async (mesh) => {
    calling = new AbortController();
    const url = `${mesh.stack().callback_url}/acquirer/${'x'.repeat(32)}/pix`;
    void callAgain(url, calling.signal);
  },
  effect: async (mesh) => {
    const refused = await mesh.metric('gateway', 'gateway_unauthorized_total');
    if (refused < CALLS_MIN) throw new Error(`${refused} calls were refused`);
  },
  end: async () => calling.abort(),
  recovered: async (_mesh, load) => {
    if (load.failures() > 0) throw new Error('a call failed');
  },
};

async function callAgain(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await fetch(url, { method: 'POST', body: '{"pix":[]}' }).catch(() => undefined);
    await delay(PAUSE_MS);
  }
}
