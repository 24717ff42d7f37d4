import { type Aim, atLeast, atMost } from '../aims.ts';
import { cpuTimeMs, cpuTimeSince, sharesOf } from '../cpu-time.ts';
import { describeRatios, median, medianOf, runInTurns, sumOf } from '../rounds.ts';
import { readSchemaBytes } from '../table-figures.ts';
import type { BenchOptions } from './bench-options.ts';
import type { Road } from './bench-road.ts';
import { readCounters } from './database-figures.ts';
import { DISPATCHER_SCHEMA, startDispatchers } from './dispatcher-process.ts';
import type { MerchantEndpoint } from './merchant-endpoints.ts';
import { startBacklog } from './run-backlog.ts';
import { type Side, SIDES } from './sides.ts';

const ENDPOINTS = 200;
const SECONDS = 30;
const ROUNDS = 3;
const WARM_UP_SECONDS = 3;
/** Processes that make the load; whatever delivers is not charged for them. */
const LOAD = new Set(['receivers', 'producer', 'driver']);
const COMMITS_PER = 50;

type Round = {
  perSecond: number;
  delivered: number;
  duplicates: number;
  missing: number;
  forged: number;
  bodyBytes: number;
  /** CPU of each process from the first event to the last delivery. */
  cpuMs: Record<string, number>;
  commits: number;
  walBytes: number;
  connections: number;
  requests: number;
};

type RoundInput = {
  side: Side;
  endpoints: readonly MerchantEndpoint[];
  seconds: number;
  pids: Readonly<Record<string, number>>;
};

/**
 * Event topic → receivers that answer at once, as fast as it goes. Rounds of baseline and ours in turn.
 */
export async function benchThroughput(road: Road, options: BenchOptions): Promise<Aim[]> {
  await using dispatchers = await startDispatchers(road, options.senders);
  const endpoints = await road.register(ENDPOINTS);
  const seconds = (options.seconds ?? SECONDS) / ROUNDS;
  const bytesPer: number[] = [];
  const pids: Record<Side, Record<string, number>> = {
    baseline: { baseline: road.baseline.pid },
    ours: dispatchers.pids,
  };
  for (const side of SIDES) {
    await runRound(road, { side, endpoints, seconds: WARM_UP_SECONDS, pids: pids[side] });
  }
  const rounds = await runInTurns(SIDES, ROUNDS, async (side, number) => {
    const before = await readSchemaBytes(road.infra.postgresUrl, DISPATCHER_SCHEMA);
    const round = await runRound(road, { side, endpoints, seconds, pids: pids[side] });
    const after = await readSchemaBytes(road.infra.postgresUrl, DISPATCHER_SCHEMA);
    if (side === 'ours') bytesPer.push((after - before) / round.delivered);
    print(`${side} ${number}`, round);
    return round;
  });
  return aimsOf(rounds, median(bytesPer));
}

async function runRound(road: Road, input: RoundInput): Promise<Round> {
  const { side, endpoints, seconds } = input;
  const load = { receivers: road.receivers.pid, producer: road.producer.pid, driver: process.pid };
  const pids = { ...road.pids, ...input.pids, ...load };
  const before = await readAll();
  const backlog = startBacklog(road, { side, name: 'throughput', endpoints });
  await backlog.rateOver(WARM_UP_SECONDS);
  const perSecond = await backlog.rateOver(seconds);
  const figure = await backlog.finish();
  const cpuMs = cpuTimeSince(before.cpu, pids);
  const after = await readAll();
  return {
    ...figure,
    perSecond,
    cpuMs,
    commits: after.counters.commits - before.counters.commits,
    walBytes: after.counters.walBytes - before.counters.walBytes,
    connections: after.traffic.connections - before.traffic.connections,
    requests: after.traffic.requests - before.traffic.requests,
  };

  async function readAll() {
    const counters = await readCounters(road.infra.postgresUrl);
    const traffic = await road.receivers.call('traffic', {});
    return { counters, traffic, cpu: cpuTimeMs(pids) };
  }
}

/** CPU per delivery of what delivers, and of what makes the load. */
function cpuPerDelivery({ cpuMs, delivered }: Round): { system: number; load: number } {
  const shares = sharesOf(cpuMs, delivered);
  const sum = (isLoad: boolean) =>
    sumOf(shares, ([name, ms]) => (LOAD.has(name) === isLoad ? ms : 0));
  return { system: sum(false), load: sum(true) };
}

function print(name: string, round: Round): void {
  const { perSecond, delivered, duplicates, missing, forged, cpuMs } = round;
  const cpu = cpuPerDelivery(round);
  const parts = sharesOf(cpuMs, delivered).map(([name, ms]) => `${name} ${ms.toFixed(3)}`);
  console.log(
    `throughput ${name.padEnd(11)} ${perSecond.toFixed(0).padStart(6)}/s  ` +
      `CPU ${cpu.system.toFixed(2)} ms + load ${cpu.load.toFixed(2)} ms  ` +
      `duplicates ${duplicates}  lost ${missing}  wrong signatures ${forged}\n  ${parts.join(', ')}`,
  );
}

function aimsOf({ ours, baseline }: Record<Side, Round[]>, storedBytes: number): Aim[] {
  const middle = (figure: (round: Round) => number) => medianOf(ours, figure);
  const sum = (name: 'duplicates' | 'missing' | 'forged' | 'connections' | 'requests') =>
    sumOf(ours, (round) => round[name]);
  const rate = (round: Round) => round.perSecond;
  const cpu = (round: Round) => cpuPerDelivery(round).system;
  const wal = middle(({ walBytes, delivered }) => walBytes / delivered);
  const body = middle(({ bodyBytes, delivered }) => bodyBytes / delivered);
  console.log(`ours / baseline: throughput ${describeRatios(ours, baseline, rate)}`);
  console.log(`ours / baseline: CPU ${describeRatios(ours, baseline, cpu)}`);
  console.log(
    `per delivery: body ${body.toFixed(0)} bytes, stored ${storedBytes.toFixed(0)} bytes, ` +
      `write-ahead log ${wal.toFixed(0)} bytes`,
  );
  const commits = middle(({ commits, delivered }) => (commits / delivered) * COMMITS_PER);
  return [
    atLeast('throughput: deliveries/s', middle(rate), 2_500),
    atMost('throughput: CPU per delivery, ms', middle(cpu), 0.7),
    atMost(`throughput: commits per ${COMMITS_PER} deliveries`, commits, 2),
    atMost('throughput: duplicates', sum('duplicates'), 0),
    atMost('throughput: lost', sum('missing'), 0),
    atMost('throughput: wrong signatures', sum('forged'), 0),
    atLeast(
      'throughput: requests on kept sockets, %',
      (1 - sum('connections') / sum('requests')) * 100,
      95,
    ),
  ];
}
