import { randomUUID } from 'node:crypto';

import type { z } from 'zod';

import { equal, holds, shaped } from '../client/expectations.ts';
import type { Answer } from '../client/http-client.ts';
import { pageOf } from '../client/schemas.ts';
import { type ApiClient, bodyWith } from './api-client.ts';
import { until } from './until.ts';

type Definition<Item, Listed> = {
  noun: 'charge' | 'payout';
  /** A valid body with nothing but what is required. */
  required: object;
  item: Item;
  listed: Listed;
};

/** What is created with an idempotency key and listed in pages: the charges or the payouts of a merchant. */
export function createCollection<
  Item extends z.ZodType<{ status: string }>,
  Listed extends z.ZodType<{ id: string }>,
>({ call, read }: ApiClient, { noun, required, item, listed }: Definition<Item, Listed>) {
  const path = `/${noun}s`;
  /** A valid body with these changes; without a key where that is null. */
  async function post(changes: object = {}, key: string | null = randomUUID()): Promise<Answer> {
    const headers = key === null ? {} : { 'idempotency-key': key };
    return await call(`POST /v1${path}`, { headers, body: { ...required, ...changes } });
  }

  return {
    post,
    /** One that was created, or a failure of the case. */
    create: async (changes?: object, key?: string) =>
      shaped(item, bodyWith(await post(changes, key), 201), `the ${noun} of the 201`),
    read: (id: string) => read(`${path}/${id}`, item),
    list: (query = '') => read(`${path}?${query}`, pageOf(listed)),
    /** Waits until it has this status. */
    until: (id: string, status: z.output<Item>['status'], limitMs?: number) =>
      until(async () => {
        const found = await read(`${path}/${id}`, item);
        equal(found.status, status, `the status of the ${noun}`);
        return found;
      }, limitMs),
  };
}

export function includes(items: readonly { id: string }[], id: string | undefined): void {
  const isThere = items.some((item) => item.id === id);
  holds(isThere, `${id} is in the list`, items.length);
}
