import { randomUUID } from 'node:crypto';

import { Pool } from 'undici';

import { type LoadResult, runClosedLoop } from '../closed-loop.ts';
import { cpuTimeMs } from '../cpu-time.ts';
import { median } from '../rounds.ts';
import { runBaseline } from '../run-baseline.ts';
import { type Stack, withStack } from '../with-stack.ts';
import { createMerchant, type Merchant } from './merchant.ts';
import { untilSettled, verifyPayouts } from './verify-payouts.ts';

const PER_SECOND_MIN = 400;
const CONCURRENCY = 32;
/** Six processes take longer to reach their speed than one. */
const WARM_UP_SECONDS = 15;
const ROUND_SECONDS = 10;
const ROUNDS = 3;
/** What is less is not worth a word. */
const CPU_MS_SHOWN_MIN = 0.05;
const MODES = ['baseline', 'manual', 'automatic'] as const;

const AMOUNT_CENTS = 1_000;
const BODY = JSON.stringify({
  amount: AMOUNT_CENTS,
  pix_key_type: 'email',
  pix_key: 'joao@example.com',
  description: 'Benchmark',
});

type Mode = (typeof MODES)[number];

/** One way to create payouts, and what it was promised. */
type Caller = {
  create(): Promise<boolean>;
  /** Ids answered with 201. */
  accepted: string[];
  /** Waits until what was accepted has been sent and settled. */
  settle(): Promise<void>;
};

type Round = LoadResult & {
  /** CPU of each process from the first call to the last settlement, per payout. */
  cpuMs: Record<string, number>;
  settledAfterMs: number;
};

/**
 * `POST /v1/payouts` to its 201 through the whole mesh, which in automatic mode sends and settles at the same time
 * what it has accepted, beside a bare Fastify + pg server that makes the same three commits and sends nothing.
 * Rounds alternate, so that a drift of the machine meets all. A figure counts only if every 201 exists afterwards,
 * the balance is exact to the cent, and reconciliation finds nothing.
 */
export async function benchPayouts(): Promise<void> {
  await withStack('.pixmesh-bench', async (stack) => {
    const manual = await createMerchant(stack, false);
    const automatic = await createMerchant(stack, true);
    const settings = { BASELINE_DATABASE_URL: stack.postgres_url };
    const server = new URL('./baseline-server.ts', import.meta.url);
    await runBaseline(server, settings, async (baselineUrl, baselinePid) => {
      const pids = { ...stack.pids, baseline: baselinePid, driver: process.pid };
      const callers: Record<Mode, Caller> = {
        baseline: createCaller(new URL('/payouts', baselineUrl), {}),
        manual: createCaller(...asMerchant(stack, manual)),
        automatic: {
          ...createCaller(...asMerchant(stack, automatic)),
          settle: () => untilSettled(stack, automatic),
        },
      };
      const rounds = await runRounds(callers, pids);
      for (const mode of MODES) printCpu(mode, rounds[mode]);
      await verifyPayouts(stack, manual, callers.manual.accepted);
      await verifyPayouts(stack, automatic, callers.automatic.accepted);
      judge(rounds);
    });
  });
}

async function runRounds(
  callers: Record<Mode, Caller>,
  pids: Readonly<Record<string, number>>,
): Promise<Record<Mode, Round[]>> {
  const rounds: Record<Mode, Round[]> = { baseline: [], manual: [], automatic: [] };
  for (const mode of MODES) await runRound(WARM_UP_SECONDS, callers[mode], pids);
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const mode of MODES) {
      const result = await runRound(ROUND_SECONDS, callers[mode], pids);
      print(`${mode} ${round}`, result);
      rounds[mode].push(result);
    }
  }
  return rounds;
}

async function runRound(
  seconds: number,
  caller: Caller,
  pids: Readonly<Record<string, number>>,
): Promise<Round> {
  const before = cpuTimeMs(pids);
  const result = await runClosedLoop({ concurrency: CONCURRENCY, seconds }, caller.create);
  const endedMs = performance.now();
  await caller.settle();
  if (result.errors > 0) throw new Error(`${result.errors} calls failed: the figures are void`);
  const cpuMs = Object.entries(cpuTimeMs(pids)).map(([name, afterMs]) => {
    return [name, (afterMs - (before[name] ?? 0)) / result.requests];
  });
  return {
    ...result,
    cpuMs: Object.fromEntries(cpuMs),
    settledAfterMs: performance.now() - endedMs,
  };
}

function createCaller(url: URL, headers: Record<string, string>): Caller {
  const pool = new Pool(url.origin, { connections: CONCURRENCY });
  const accepted: string[] = [];
  return {
    accepted,
    settle: async () => undefined,
    create: async () => {
      const response = await pool.request({
        method: 'POST',
        path: url.pathname,
        headers: {
          ...headers,
          'content-type': 'application/json',
          'idempotency-key': randomUUID(),
        },
        body: BODY,
      });
      const payout = (await response.body.json()) as { id: string };
      if (response.statusCode !== 201) return false;
      accepted.push(payout.id);
      return true;
    },
  };
}

function asMerchant(stack: Stack, merchant: Merchant): Parameters<typeof createCaller> {
  return [new URL('/v1/payouts', stack.gateway_url), { 'x-api-key': merchant.key }];
}

function print(name: string, { perSecond, p50Ms, p99Ms, settledAfterMs }: Round): void {
  console.log(
    `${name.padEnd(12)} ${perSecond.toFixed(0).padStart(5)}/s  p50 ${p50Ms.toFixed(1)} ms  ` +
      `p99 ${p99Ms.toFixed(1)} ms  all settled ${(settledAfterMs / 1000).toFixed(1)} s later`,
  );
}

/** Where the time goes: CPU per payout in the last round, the greatest first. */
function printCpu(mode: Mode, rounds: readonly Round[]): void {
  const parts = Object.entries(rounds.at(-1)?.cpuMs ?? {}).toSorted(([, a], [, b]) => b - a);
  const total = parts.reduce((sum, [, ms]) => sum + ms, 0);
  const shown = parts.filter(([, ms]) => ms >= CPU_MS_SHOWN_MIN);
  const list = shown.map(([name, ms]) => `${name} ${ms.toFixed(2)}`).join(', ');
  console.log(`CPU per payout, ${mode}: ${total.toFixed(2)} ms (${list})`);
}

/** The median of each mode against the aim; the baseline only says what the machine was worth today. */
function judge(rounds: Record<Mode, Round[]>): void {
  const baseline = medianRate(rounds.baseline);
  for (const mode of ['manual', 'automatic'] as const) {
    const rate = medianRate(rounds[mode]);
    const isMet = rate >= PER_SECOND_MIN;
    if (!isMet) process.exitCode = 1;
    console.log(
      `${isMet ? 'PASS' : 'FAIL'} ${mode}: median ${rate.toFixed(0)}/s, aim ${PER_SECOND_MIN}/s; ` +
        `${(rate / baseline).toFixed(2)} of the baseline's ${baseline.toFixed(0)}/s`,
    );
  }
}

function medianRate(rounds: readonly Round[]): number {
  return median(rounds.map(({ perSecond }) => perSecond));
}
