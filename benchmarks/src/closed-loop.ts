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
  let errors = 0;
  const took = await keepBusy({ workers: CONCURRENCY, seconds }, async () => {
    const beganMs = performance.now();
    if (!(await create())) errors += 1;
    latencies.record(performance.now() - beganMs);
  });
  if (errors > 0) throw new Error(`${errors} calls failed: the figures are void`);
  return { requests: took.count, perSecond: took.count / took.seconds, ...latencies.figure() };
}

/** So many workers that do one thing after the other; answers how many were done in which time. */
export async function keepBusy(
  { workers, seconds }: { workers: number; seconds: number },
  doOne: () => Promise<void>,
): Promise<{ count: number; seconds: number }> {
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1000;
  let count = 0;
  const work = async (): Promise<void> => {
    for (; performance.now() < endMs; count += 1) await doOne();
  };
  await Promise.all(Array.from({ length: workers }, work));
  return { count, seconds: (performance.now() - startedMs) / 1000 };
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
