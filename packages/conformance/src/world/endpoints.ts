import { randomUUID } from 'node:crypto';

import { ExpectationError } from '../client/expectations.ts';
import type { Answer } from '../client/http-client.ts';
import { Endpoint, listOf } from '../client/schemas.ts';
import { type ApiClient, bodyWith } from './api-client.ts';

export const ENDPOINT_EVENTS = ['charge.pix.paid', 'charge.pix.created'];

/** The registered endpoints of a merchant; `hookBase` is where their URLs may point. */
export function createEndpoints({ call, read }: ApiClient, hookBase: string) {
  /** A valid body, at an URL of its own, with these changes. */
  async function post(changes: object): Promise<Answer> {
    const body = { url: `${hookBase}/${randomUUID()}`, events: ENDPOINT_EVENTS, ...changes };
    return await call('POST /v1/webhooks', { body });
  }

  async function list(): Promise<Endpoint[]> {
    return (await read('/webhooks', listOf(Endpoint))).data;
  }

  async function find(url: string): Promise<Endpoint> {
    const found = (await list()).find((endpoint) => endpoint.url === url);
    if (found === undefined) throw new ExpectationError('the list of endpoints', url, 'not there');
    return found;
  }

  return {
    post,
    list,
    find,
    /** It is found by its URL in the list: the answer of the creation is not shown in the specification. */
    create: async (fields: object = {}): Promise<Endpoint> => {
      const body = { url: `${hookBase}/${randomUUID()}`, ...fields };
      const answer = await post(body);
      if (answer.status !== 200) bodyWith(answer, 201);
      return await find(body.url);
    },
    /** Removes what a case registered, so that a shared application stays below any limit of endpoints. */
    remove: async (id: string): Promise<void> => {
      bodyWith(await call(`DELETE /v1/webhooks/${id}`), 204);
    },
  };
}
