import { readFileSync } from 'node:fs';
import path from 'node:path';

import { type BaselineCalls, startChild } from '../child-calls.ts';
import { type Caller, createCaller, type LoadResult, runClosedLoop } from '../closed-loop.ts';
import { describeLatencies } from '../latencies.ts';
import { describeRatios, runInTurns } from '../rounds.ts';
import { type Stack, withStack } from '../with-stack.ts';

const WARM_UP_SECONDS = 5;
const ROUND_SECONDS = 10;
const ROUNDS = 3;
const SIDES = ['baseline', 'mesh'] as const;

const BODY = {
  amount: 1_000,
  customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
  description: 'Benchmark',
};

/**
 * Charge creation through the whole mesh, beside a bare Fastify + pg server that makes the same commits and
 * the same call to the same acquirer.
 */
export async function benchCharges(): Promise<void> {
  await withStack({ home: '.pixmesh-bench' }, async (stack) => {
    const module = new URL('./baseline-server.ts', import.meta.url);
    await using server = startChild<BaselineCalls>(module, baselineSettings(stack));
    const url = new URL('/v1/charges', stack.gateway_url);
    const callers: Record<(typeof SIDES)[number], Caller> = {
      baseline: createCaller(new URL('/charges', await server.call('url', {})), BODY),
      mesh: createCaller(url, BODY, { 'x-api-key': stack.api_key }),
    };
    for (const side of SIDES) await runClosedLoop(WARM_UP_SECONDS, callers[side]);
    const { mesh, baseline } = await runInTurns(SIDES, ROUNDS, async (side, round) =>
      print(`${side} ${round}`, await runClosedLoop(ROUND_SECONDS, callers[side])),
    );
    const ratios = describeRatios(mesh, baseline, ({ perSecond }) => perSecond);
    console.log(`ratio mesh / baseline: ${ratios}`);
  });
}

/** The credentials by which the mesh reaches the same acquirer, and its database. */
function baselineSettings(stack: Stack): NodeJS.ProcessEnv {
  const file = path.join(stack.home, 'secrets.json');
  const secrets = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  return {
    BASELINE_DATABASE_URL: stack.postgres_url,
    BASELINE_ACQUIRER_URL: stack.simulator_url,
    BASELINE_CLIENT_ID: secrets['acquirerClientId'],
    BASELINE_CLIENT_SECRET: secrets['acquirerClientSecret'],
    BASELINE_PIX_KEY: secrets['acquirerPixKey'],
  };
}

function print(name: string, result: LoadResult): LoadResult {
  const rate = result.perSecond.toFixed(0);
  console.log(`${name.padEnd(10)} ${rate}/s  ${describeLatencies(result)}`);
  return result;
}
