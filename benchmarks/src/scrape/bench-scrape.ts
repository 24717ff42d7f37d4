import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { createDemoClient } from '@pixmesh/local-stack/demo/demo-client';
import { call } from '@pixmesh/local-stack/http-call';
import { createDemoAccount } from '@pixmesh/local-stack/mesh/seed-demo-account';
import { inParallel } from '@pixmesh/testkit/in-parallel';

import { type Aim, atMost, printAims } from '../aims.ts';
import { cpuTimeMs, cpuTimeSince } from '../cpu-time.ts';
import { median, sumOf } from '../rounds.ts';
import { until } from '../until.ts';
import { type Stack, withStack } from '../with-stack.ts';

const HOME = '.pixmesh-bench-scrape';
const ACCOUNTS = '10000';
/** What shows every label that an account may have, without many accounts. */
const ACCOUNTS_FEW = 20;
const WORKERS = 16;
/** In each of them so many scrapes, and as long a time without: what else the mesh does in it meets both. */
const ROUNDS = 9;
const SCRAPES = 10;
const SCRAPE_INTERVAL_MS = 500;
/** What the accounts have left behind is done by then. */
const SETTLE_MS = 15_000;
/** How often Prometheus asks (`deploy/observability/prometheus/prometheus.yml`). */
const PERIOD_MS = 15_000;
const CHARGE = {
  amount: 1_000,
  customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
};

/** Series by the name of their metric. */
type Series = Map<string, number>;
type Scraped = { series: Series; cpuMs: number };

/** What it costs to be watched: series of all services, and CPU of a scrape, with few accounts and with many. */
export async function benchScrape(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { accounts: { type: 'string', default: ACCOUNTS } },
  });
  const accounts = Number(values.accounts);
  // Accounts of an earlier run would be counted too.
  rmSync(HOME, { recursive: true, force: true });
  await withStack({ home: HOME }, async (stack) => {
    await makeAccounts(stack, ACCOUNTS_FEW);
    await compareEverything(stack);
    const few = await measureScrapes(stack, ACCOUNTS_FEW);
    await makeAccounts(stack, accounts - ACCOUNTS_FEW);
    const many = await measureScrapes(stack, accounts);
    printGrown(few.series, many.series);
    printAims(aimsOf(few, many));
  });
}

/** Each with an application, a key, and a charge that is paid. */
async function makeAccounts(stack: Stack, count: number): Promise<void> {
  await inParallel(WORKERS, count, async () => {
    const { apiKey } = await createDemoAccount(stack);
    const client = createDemoClient({ ...stack, api_key: apiKey });
    const { id } = await client.createCharge(CHARGE);
    await client.pay(id);
  });
}

/** Each check and each call between services shows from its first time on. */
async function compareEverything(stack: Stack): Promise<void> {
  const url = `${stack.admin_url}/admin/reconciliation`;
  const headers = { authorization: `Bearer ${stack.admin_token}` };
  await delay(SETTLE_MS);
  await call('POST', url, { headers });
  await call('POST', url, { headers, body: { full: true } });
  await until('the comparison of everything', async () => {
    const report = await call<{ full_runs: unknown[] }>('GET', url, { headers });
    return report.full_runs.length === 0;
  });
}

async function measureScrapes(stack: Stack, accounts: number): Promise<Scraped> {
  await delay(SETTLE_MS);
  let series: Series = new Map();
  const costsMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const idleMs = await cpuWhile(stack, () => delay(SCRAPE_INTERVAL_MS));
    const scrapingMs = await cpuWhile(stack, async () => {
      const began = performance.now();
      series = await scrapeAll(stack);
      await delay(SCRAPE_INTERVAL_MS - (performance.now() - began));
    });
    costsMs.push((scrapingMs - idleMs) / SCRAPES);
  }
  const cpuMs = median(costsMs);
  console.log(
    `${accounts} accounts: ${countOf(series)} series, ${cpuMs.toFixed(1)} ms of CPU for a scrape of all services`,
  );
  return { series, cpuMs };
}

/** CPU of the whole mesh while something is done as often as is scraped. */
async function cpuWhile(stack: Stack, doOne: () => Promise<unknown>): Promise<number> {
  const before = cpuTimeMs(stack.pids);
  for (let index = 0; index < SCRAPES; index += 1) await doOne();
  return sumOf(Object.values(cpuTimeSince(before, stack.pids)), (ms) => ms);
}

/** What all services show. */
async function scrapeAll(stack: Stack): Promise<Series> {
  const series: Series = new Map();
  const texts = await Promise.all(
    Object.values(stack.internal_urls).map(async (url) => (await fetch(`${url}/metrics`)).text()),
  );
  for (const line of texts.join('\n').split('\n')) {
    const name = /^\w+/.exec(line)?.[0];
    if (name !== undefined) series.set(name, (series.get(name) ?? 0) + 1);
  }
  return series;
}

function countOf(series: Series): number {
  return sumOf([...series.values()], (count) => count);
}

function printGrown(few: Series, many: Series): void {
  for (const [name, count] of many) {
    const before = few.get(name) ?? 0;
    if (count > before) console.log(`    ${name.padEnd(48)} ${before} -> ${count}`);
  }
}

function aimsOf(few: Scraped, many: Scraped): Aim[] {
  const percent = (many.cpuMs / PERIOD_MS) * 100;
  return [
    atMost('a scrape each 15 s, % of a core', percent, 1),
    atMost('series, to those with few accounts', countOf(many.series) / countOf(few.series), 1.02),
  ];
}
