import type { Drill } from '../drill.ts';

const CALLS = 30;

/** Genuine callbacks go on being taken. */
export const callbacksRefused: Drill = {
  name: 'callbacks-refused',
  purpose: 'somebody calls the callback listener without its secret',
  alerts: ['CallbacksRefused'],
  cause: async (mesh) => {
    const url = `${mesh.stack().callback_url}/acquirer/${'x'.repeat(32)}/pix`;
    for (let call = 0; call < CALLS; call += 1) {
      await fetch(url, { method: 'POST', body: '{"pix":[]}' });
    }
  },
  effect: async (mesh) => {
    const refused = await mesh.metric('gateway', 'gateway_unauthorized_total');
    if (refused < CALLS) throw new Error(`${refused} calls were refused`);
  },
  end: async () => undefined,
  recovered: async (_mesh, load) => {
    if (load.failures() > 0) throw new Error('a call failed');
  },
};
