import { type BaselineCalls, startChild } from '../child-calls.ts';
import {
  type Caller as HttpCaller,
  createCaller,
  type LoadResult,
  runClosedLoop,
} from '../closed-loop.ts';
import { cpuTimeMs, cpuTimeSince, sharesOf } from '../cpu-time.ts';
import { medianOf, runInTurns, sumOf } from '../rounds.ts';
import { type Stack, withStack } from '../with-stack.ts';
import { createMerchant, type Merchant } from './merchant.ts';
import { untilSettled, verifyPayouts } from './verify-payouts.ts';

const PER_SECOND_MIN = 400;
/** Six processes take longer to reach their speed than one. */
const WARM_UP_SECONDS = 15;
const ROUND_SECONDS = 10;
const ROUNDS = 3;
/** What is less is not worth a word. */
const CPU_MS_SHOWN_MIN = 0.05;
const MODES = ['baseline', 'manual', 'automatic'] as const;

const BODY = {
  amount: 1_000,
  pix_key_type: 'email',
  pix_key: 'joao@example.com',
  description: 'Benchmark',
};

type Mode = (typeof MODES)[number];

/** `settle` waits until what was accepted has been sent and settled. */
type Caller = HttpCaller & { settle?: () => Promise<void> };

type Round = LoadResult & {
  /** CPU of each process from the first call to the last settlement. */
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
  await withStack({ home: '.pixmesh-bench' }, async (stack) => {
    const manual = await createMerchant(stack, false);
    const automatic = await createMerchant(stack, true);
    const settings = { BASELINE_DATABASE_URL: stack.postgres_url };
    const module = new URL('./baseline-server.ts', import.meta.url);
    await using server = startChild<BaselineCalls>(module, settings);
    const pids = { ...stack.pids, baseline: server.pid, driver: process.pid };
    const callers: Record<Mode, Caller> = {
      baseline: createCaller(new URL('/payouts', await server.call('url', {})), BODY),
      manual: createCaller(...asMerchant(stack, manual)),
      automatic: {
        ...createCaller(...asMerchant(stack, automatic)),
        settle: () => untilSettled(stack, automatic),
      },
    };
    for (const mode of MODES) await runRound(WARM_UP_SECONDS, callers[mode], pids);
    const rounds = await runInTurns(MODES, ROUNDS, async (mode, round) =>
      print(`${mode} ${round}`, await runRound(ROUND_SECONDS, callers[mode], pids)),
    );
    for (const mode of MODES) printCpu(mode, rounds[mode]);
    await verifyPayouts(stack, manual, callers.manual.accepted);
    await verifyPayouts(stack, automatic, callers.automatic.accepted);
    compareWithAim(rounds);
  });
}

async function runRound(
  seconds: number,
  caller: Caller,
  pids: Readonly<Record<string, number>>,
): Promise<Round> {
  const before = cpuTimeMs(pids);
  const result = await runClosedLoop(seconds, caller);
  const endedMs = performance.now();
  await caller.settle?.();
  const cpuMs = cpuTimeSince(before, pids);
  return { ...result, cpuMs, settledAfterMs: performance.now() - endedMs };
}

function asMerchant(stack: Stack, merchant: Merchant): Parameters<typeof createCaller> {
  return [new URL('/v1/payouts', stack.gateway_url), BODY, { 'x-api-key': merchant.key }];
}

function print(name: string, round: Round): Round {
  const { perSecond, p50Ms, p99Ms, settledAfterMs } = round;
  console.log(
    `${name.padEnd(12)} ${perSecond.toFixed(0).padStart(5)}/s  p50 ${p50Ms.toFixed(1)} ms  ` +
      `p99 ${p99Ms.toFixed(1)} ms  all settled ${(settledAfterMs / 1000).toFixed(1)} s later`,
  );
  return round;
}

/** Where the time goes: CPU per payout in the last round, the greatest first. */
function printCpu(mode: Mode, rounds: readonly Round[]): void {
  const { cpuMs = {}, requests = 0 } = rounds.at(-1) ?? {};
  const parts = sharesOf(cpuMs, requests);
  const total = sumOf(parts, ([, ms]) => ms);
  const shown = parts.filter(([, ms]) => ms >= CPU_MS_SHOWN_MIN);
  const list = shown.map(([name, ms]) => `${name} ${ms.toFixed(2)}`).join(', ');
  console.log(`CPU per payout, ${mode}: ${total.toFixed(2)} ms (${list})`);
}

/** The median of each mode against the aim; the baseline only says what the machine was worth today. */
function compareWithAim(rounds: Record<Mode, Round[]>): void {
  const baseline = medianOf(rounds.baseline, ({ perSecond }) => perSecond);
  for (const mode of ['manual', 'automatic'] as const) {
    const rate = medianOf(rounds[mode], ({ perSecond }) => perSecond);
    const isMet = rate >= PER_SECOND_MIN;
    if (!isMet) process.exitCode = 1;
    console.log(
      `${isMet ? 'PASS' : 'FAIL'} ${mode}: median ${rate.toFixed(0)}/s, aim ${PER_SECOND_MIN}/s; ` +
        `${(rate / baseline).toFixed(2)} of the baseline's ${baseline.toFixed(0)}/s`,
    );
  }
}
