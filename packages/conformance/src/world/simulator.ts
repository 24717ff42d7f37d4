import { ExpectationError } from '../suite/expectations.ts';
import type { HttpClient } from '../client/http-client.ts';

/** The control side of the acquirer's simulator: payers, refusals, silence. */
export type Simulator = {
  pay(chargeId: string): Promise<void>;
  settle(payoutId: string): Promise<void>;
  reject(payoutId: string, message: string): Promise<void>;
  /** Runs while the acquirer misbehaves as the rules say; the faults end with it. */
  withFaults<T>(rules: readonly object[], run: () => Promise<T>): Promise<T>;
};

export function createSimulator(http: HttpClient, url: string): Simulator {
  async function call(method: string, path: string, body: object = {}): Promise<void> {
    const answer = await http.send({
      method,
      url: `${url}/control${path}`,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
    });
    if (answer.status < 300) return;
    throw new ExpectationError(answer.request, 'the simulator to agree', answer.text);
  }
  return {
    pay: (chargeId) => call('POST', `/charges/${chargeId}/pay`),
    settle: (payoutId) => call('POST', `/sends/${payoutId}/settle`),
    reject: (payoutId, message) => call('POST', `/sends/${payoutId}/reject`, { message }),
    withFaults: async (rules, run) => {
      await call('PUT', '/faults', { seed: 1, rules });
      try {
        return await run();
      } finally {
        await call('DELETE', '/faults');
      }
    },
  };
}
