import { randomUUID } from 'node:crypto';

import { Pool } from 'undici';

import { type LoadResult, runClosedLoop } from '../closed-loop.ts';
import { withStack } from '../with-stack.ts';
import { withBaseline } from './with-baseline.ts';

const CONCURRENCY = 32;
const WARM_UP_SECONDS = 5;
const ROUND_SECONDS = 10;
const ROUNDS = 3;

const BODY = JSON.stringify({
  amount: 1_000,
  customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
  description: 'Benchmark',
});

/**
 * Charge creation through the whole mesh, beside a bare Fastify + pg server that makes the same commits and
 * the same call to the same acquirer. Rounds alternate, so that a drift of the machine meets both.
 */
export async function benchCharges(): Promise<void> {
  await withStack('.pixmesh-bench', async (stack) => {
    await withBaseline(stack, async (baselineUrl) => {
      const mesh = new Pool(stack.gateway_url, { connections: CONCURRENCY });
      const baseline = new Pool(baselineUrl, { connections: CONCURRENCY });
      const callMesh = () => create(mesh, '/v1/charges', { 'x-api-key': stack.api_key });
      const callBaseline = () => create(baseline, '/charges', {});
      await load(WARM_UP_SECONDS, callMesh);
      await load(WARM_UP_SECONDS, callBaseline);
      const meshRounds: LoadResult[] = [];
      const baselineRounds: LoadResult[] = [];
      for (let round = 1; round <= ROUNDS; round += 1) {
        baselineRounds.push(print(`baseline ${round}`, await load(ROUND_SECONDS, callBaseline)));
        meshRounds.push(print(`mesh     ${round}`, await load(ROUND_SECONDS, callMesh)));
      }
      const ratios = meshRounds.map((result, index) => {
        return result.perSecond / (baselineRounds[index]?.perSecond ?? Number.NaN);
      });
      console.log(`ratio mesh / baseline: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')}`);
      console.log(
        `median: ${ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]?.toFixed(2)}`,
      );
      if ([...meshRounds, ...baselineRounds].some((result) => result.errors > 0)) {
        throw new Error('calls failed: the figures are void');
      }
    });
  });
}

function load(seconds: number, call: () => Promise<boolean>): Promise<LoadResult> {
  return runClosedLoop({ concurrency: CONCURRENCY, seconds }, call);
}

async function create(pool: Pool, path: string, headers: Record<string, string>): Promise<boolean> {
  const response = await pool.request({
    method: 'POST',
    path,
    headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: BODY,
  });
  await response.body.dump();
  return response.statusCode === 201;
}

function print(name: string, result: LoadResult): LoadResult {
  const { perSecond, p50Ms, p99Ms, errors } = result;
  const rate = `${perSecond.toFixed(0)}/s`;
  console.log(
    `${name}  ${rate}  p50 ${p50Ms.toFixed(1)} ms  p99 ${p99Ms.toFixed(1)} ms  errors ${errors}`,
  );
  return result;
}
