import type { Drill } from '../drill.ts';
import { repeat, type Repetition } from './repeat.ts';

const CALLS_MIN = 30;
const PAUSE_MS = 500;

let calling: Repetition | undefined;

/** Genuine callbacks go on being taken. */
export const callbacksRefused: Drill = {
  name: 'callbacks-refused',
  purpose: 'somebody calls the callback listener without its secret',
  alerts: ['CallbacksRefused'],
  cause: async (mesh) => {
    const url = `${mesh.stack().callback_url}/acquirer/${'x'.repeat(32)}/pix`;
    calling = repeat(PAUSE_MS, () => fetch(url, { method: 'POST', body: '{"pix":[]}' }));
  },
  effect: async (mesh) => {
    const refused = await mesh.metric('gateway', 'gateway_unauthorized_total');
    if (refused < CALLS_MIN) throw new Error(`${refused} calls were refused`);
  },
  end: async () => await calling?.stop(),
  recovered: async (_mesh, load) => {
    if (load.failures() > 0) throw new Error('a call failed');
  },
};
