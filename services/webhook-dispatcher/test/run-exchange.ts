/**
 * An exchange in a process of its own, so that its memory and its times are its own. Reads a plan as JSON from
 * its first argument, posts to hostile receivers and to good ones beside them, and answers figures as JSON.
 */
import { ANSWER_TROUBLES, CONNECTION_TROUBLES } from '@pixmesh/testkit/hostile-receivers';
import type { HostileProcess } from '@pixmesh/testkit/hostile-process';
import { summarizeTimes } from '@pixmesh/testkit/time-calls';

import type { DevReceiver } from '#exchange/dev-receivers.ts';
import { createExchange, type ExchangeResult } from '#exchange/exchange.ts';
import { createResolver } from '#exchange/resolve-name.ts';

export type ExchangePlan = {
  receivers: HostileProcess;
  timeoutMs: number;
  /** Posts that make the process as large as good receivers ever make it. */
  warmUpPosts: number;
  /** Hostile posts at once while memory is watched, and while good receivers are. */
  watchedInFlight: number;
  hostileAtOnce: number;
  /** Good receivers get a post each after the other, at this interval, for as long as this. */
  healthyOrigins: number;
  healthyIntervalMs: number;
  healthyMs: number;
};

export type HostileOutcome = Pick<
  ExchangeResult,
  'outcome' | 'reason' | 'status' | 'durationMs'
> & {
  trouble: string;
};
export type ExchangeFigures = {
  hostile: HostileOutcome[];
  rssBytes: { before: number; most: number };
  healthyAlone: { calls: number; failed: number; p99Ms: number };
  healthyBeside: { calls: number; failed: number; p99Ms: number };
};

const RSS_INTERVAL_MS = 50;
const BODY = Buffer.from(JSON.stringify({ id: '1', data: 'x'.repeat(1_000) }));
/** Asked of the silent name server; every other name is mapped. */
const UNRESOLVED = 'slow-dns';

const TROUBLES: readonly string[] = [
  ...ANSWER_TROUBLES.filter((trouble) => trouble !== 'ok'),
  ...CONNECTION_TROUBLES,
  UNRESOLVED,
];

const plan = JSON.parse(process.argv[2] ?? '') as ExchangePlan;
const exchange = createExchange({
  timeoutMs: plan.timeoutMs,
  resolveName: createResolver([plan.receivers.silentDns]),
  devReceivers: mapReceivers(),
  isForbiddenAddress: () => false,
});
process.stdout.write(JSON.stringify(await measure()));
process.exit();

async function measure(): Promise<ExchangeFigures> {
  await warmUp();
  const { most, before } = await watchMemory(() => postHostile(plan.watchedInFlight));
  const healthyAlone = await postHealthy(delayOf(plan.healthyMs));
  const hostile = postHostile(plan.hostileAtOnce);
  const healthyBeside = await postHealthy(hostile);
  return {
    hostile: await hostile,
    rssBytes: { before, most },
    healthyAlone,
    healthyBeside,
  };
}

async function warmUp(): Promise<void> {
  for (let posted = 0; posted < plan.warmUpPosts; posted += plan.watchedInFlight) {
    await Promise.all(
      Array.from({ length: plan.watchedInFlight }, (_, index) => post(`good-${index}`, 'ok')),
    );
  }
  // What TLS and the resolver load once.
  await Promise.all([post('first', 'tls-stalled'), post('first', UNRESOLVED)]);
}

async function watchMemory(
  work: () => Promise<unknown>,
): Promise<{ before: number; most: number }> {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, RSS_INTERVAL_MS);
  await work();
  clearInterval(timer);
  return { before, most };
}

/** So many posts at once, each to a name of its own, with the troubles taking turns. */
async function postHostile(count: number): Promise<HostileOutcome[]> {
  const posts = Array.from({ length: count }, async (_, index) => {
    const trouble = troubleOf(index);
    const { outcome, reason, status, durationMs } = await post(`hostile-${index}`, trouble);
    return { trouble, outcome, reason, status, durationMs };
  });
  return await Promise.all(posts);
}

async function postHealthy(until: Promise<unknown>): Promise<ExchangeFigures['healthyAlone']> {
  const results: Promise<ExchangeResult>[] = [];
  const times: number[] = [];
  const timer = setInterval(() => {
    const startedMs = performance.now();
    const result = post(`good-${results.length % plan.healthyOrigins}`, 'ok');
    results.push(result.finally(() => times.push(performance.now() - startedMs)));
  }, plan.healthyIntervalMs);
  await until;
  clearInterval(timer);
  const outcomes = await Promise.all(results);
  const failed = outcomes.filter(({ outcome }) => outcome === 'failed').length;
  return { calls: outcomes.length, failed, p99Ms: summarizeTimes(times).p99Ms };
}

function post(name: string, trouble: string): Promise<ExchangeResult> {
  const scheme = trouble.startsWith('tls-') ? 'https' : 'http';
  const zone = trouble === UNRESOLVED ? 'example.net' : 'receiver.example.com';
  const url = `${scheme}://${name}.${zone}/${trouble}`;
  return exchange.post({ url, headers: { 'content-type': 'application/json' }, body: BODY });
}

/** What goes wrong before any request does so at a port of its own. */
function mapReceivers(): DevReceiver[] {
  const ports: Readonly<Record<string, number>> = plan.receivers.ports;
  const count = Math.max(plan.hostileAtOnce, plan.watchedInFlight);
  const exact = Array.from({ length: count }, (_, index) => ({
    pattern: `hostile-${index}.receiver.example.com`,
    target: { address: '127.0.0.1', port: ports[troubleOf(index)] ?? 0 },
  }));
  return [
    ...exact.filter(({ target }) => target.port > 0),
    {
      pattern: '*.receiver.example.com',
      target: { address: '127.0.0.1', port: plan.receivers.port },
    },
  ];
}

function troubleOf(index: number): string {
  return TROUBLES[index % TROUBLES.length] ?? '';
}

function delayOf(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
