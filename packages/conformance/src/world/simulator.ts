import { z } from 'zod';

import { ExpectationError, shaped } from '../client/expectations.ts';
import type { HttpClient } from '../client/http-client.ts';

/** The control side of the acquirer's simulator: payers, disputes, refusals, silence. */
export type Simulator = {
  pay(chargeId: string): Promise<void>;
  reject(payoutId: string, message: string): Promise<void>;
  /** The payer contests a Pix, or part of it; answers the acquirer's id of the dispute. */
  dispute(endToEndId: string, fields: DisputeFields): Promise<string>;
  /** Also `lost` after `won`; the money of a lost dispute goes back to the payer. */
  decide(disputeId: string, outcome: 'won' | 'lost'): Promise<void>;
  /** Runs while the acquirer misbehaves towards somebody; whatever else uses the installation does not see it. */
  withFault<T>(rule: FaultRule, run: () => Promise<T>): Promise<T>;
};

/** `status` is how it arrives, by default open; `natureza` is the word for what goes back. */
type DisputeFields = { amount?: number; status?: 'lost'; natureza?: string };

/** What goes wrong, and for whom: the payer's name, or the recipient's key. */
type FaultRule = {
  operation: string;
  fault: string;
  count?: number;
  message?: string;
  only: { debtor: string } | { pix_key: string };
};

const Added = z.object({ id: z.string() });

export function createSimulator(http: HttpClient, url: string): Simulator {
  async function call(method: string, path: string, body: object = {}): Promise<unknown> {
    const answer = await http.send({
      method,
      url: `${url}/control${path}`,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
    });
    if (answer.status < 300) return answer.json;
    throw new ExpectationError(answer.request, 'the simulator to agree', answer.text);
  }
  async function post(path: string, body: object = {}): Promise<void> {
    await call('POST', path, body);
  }
  return {
    pay: (chargeId) => post(`/charges/${chargeId}/pay`),
    reject: (payoutId, message) => post(`/sends/${payoutId}/reject`, { message }),
    dispute: async (endToEndId, fields) => {
      const opened = await call('POST', '/disputes', { end_to_end_id: endToEndId, ...fields });
      return shaped(Added, opened, 'the dispute').id;
    },
    decide: (disputeId, outcome) => post(`/disputes/${disputeId}/decide`, { outcome }),
    withFault: async (rule, run) => {
      const added = await call('POST', '/faults', { seed: 1, rules: [rule] });
      const { id } = shaped(Added, added, 'the faults');
      try {
        return await run();
      } finally {
        await call('DELETE', `/faults/${id}`);
      }
    },
  };
}
