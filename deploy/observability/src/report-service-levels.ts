import { parseArgs } from 'node:util';

import { z } from 'zod';

import { SERVICE_LEVELS, type ServiceLevel } from './service-levels.ts';

/** `npm run service-levels -- --prometheus URL [--window 30d]`: how much of each budget is left. */
const ANSWER_MS_MAX = 30_000;

const Answer = z.object({
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});

const { values } = parseArgs({
  options: { prometheus: { type: 'string' }, window: { type: 'string', default: '30d' } },
});
if (values.prometheus === undefined || !/^\d+[smhdw]$/.test(values.window)) {
  process.stderr.write('usage: npm run service-levels -- --prometheus URL [--window 30d]\n');
  process.exitCode = 2;
} else {
  await report(values.prometheus, values.window).catch(fail);
}

/** In one line: a Prometheus that is away is the usual cause. */
function fail(error: Error): void {
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  process.stderr.write(`service-levels: ${values.prometheus}: ${error.message}${cause}\n`);
  process.exitCode = 2;
}

async function report(prometheus: string, window: string): Promise<void> {
  for (const level of SERVICE_LEVELS) {
    const { all, good, budgetLeft } = await measure(prometheus, level, window);
    const objective = percent(level.objective);
    const text =
      all === 0
        ? 'no events'
        : `${Math.round(all)} events, ${percent(good)} good, ${percent(budgetLeft)} of the budget left`;
    process.stdout.write(`${level.title} (${objective} over ${window}): ${text}\n`);
    if (budgetLeft < 0) process.exitCode = 1;
  }
}

async function measure(prometheus: string, level: ServiceLevel, window: string) {
  const all = await ask(prometheus, level.all(window));
  const failed = await ask(prometheus, level.failed(window));
  const ratio = all === 0 ? 0 : failed / all;
  return { all, good: 1 - ratio, budgetLeft: 1 - ratio / (1 - level.objective) };
}

/** The one value of a query. @throws Error where Prometheus does not answer it */
async function ask(prometheus: string, query: string): Promise<number> {
  const url = new URL('/api/v1/query', prometheus);
  url.searchParams.set('query', query);
  const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  if (!response.ok) throw new Error(`Prometheus answered ${response.status}`);
  const [first] = Answer.parse(await response.json()).data.result;
  return Number(first?.value[1] ?? 0);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)} %`;
}
