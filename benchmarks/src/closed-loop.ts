import { randomUUID } from 'node:crypto';

import { Pool } from 'undici';

import { createLatencies, type LatencyFigure } from './latencies.ts';

export type LoadResult = LatencyFigure & { requests: number; perSecond: number };

/** One way to create things over HTTP, and the ids that were answered with 201. */
export type Caller = { create(): Promise<boolean>; accepted: string[] };

const CONCURRENCY = 32;

/**
 * Keeps so many calls under way for `seconds`. Right for comparing two servers' capacity in one run; it says nothing
 * about latency at a given arrival rate.
 * @throws when calls failed: the figures are void
 */
export async function runClosedLoop(seconds: number, { create }: Caller): Promise<LoadResult> {
  const latencies = createLatencies();
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1000;
  let errors = 0;
  await Promise.all(Array.from({ length: CONCURRENCY }, () => worker()));
  if (errors > 0) throw new Error(`${errors} calls failed: the figures are void`);
  const requests = latencies.count();
  const perSecond = (requests / (performance.now() - startedMs)) * 1000;
  return { requests, perSecond, ...latencies.figure() };

  async function worker(): Promise<void> {
    while (performance.now() < endMs) {
      const beganMs = performance.now();
      if (!(await create())) errors += 1;
      latencies.record(performance.now() - beganMs);
    }
  }
}

/** Posts the same body under a key of its own each time. */
export function createCaller(
  url: URL,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Caller {
  const pool = new Pool(url.origin, { connections: CONCURRENCY });
  const text = JSON.stringify(body);
  const accepted: string[] = [];
  return {
    accepted,
    create: async () => {
      const response = await pool.request({
        method: 'POST',
        path: url.pathname,
        headers: {
          ...headers,
          'content-type': 'application/json',
          'idempotency-key': randomUUID(),
        },
        body: text,
      });
      const { id } = (await response.body.json()) as { id: string };
      if (response.statusCode === 201) accepted.push(id);
      return response.statusCode === 201;
    },
  };
}
