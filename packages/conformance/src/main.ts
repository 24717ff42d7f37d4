import { writeFileSync } from 'node:fs';

import { ALL_CASES } from './cases/all-cases.ts';
import { formatMap } from './suite/format-map.ts';
import { type Options, readOptions, USAGE } from './suite/options.ts';
import { describeFailure, formatReport } from './suite/print-report.ts';
import { type Result, runSuite } from './suite/run-suite.ts';
import { summarize } from './suite/summarize.ts';
import { createWorld, type WorldOptions } from './world/world.ts';

/** 0: as specified; 1: something is not; 2: the run itself could not be made. */
const EXIT_FAILED = 1;
const EXIT_UNUSABLE = 2;

try {
  process.exitCode = await main(readOptions(process.argv.slice(2)));
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${message}\n\n${USAGE}`);
  process.exitCode = EXIT_UNUSABLE;
}

async function main(options: Options): Promise<number> {
  if (options.world === null) {
    process.stdout.write(formatMap(ALL_CASES));
    return 0;
  }
  const results = await run(options.world, options.only);
  process.stdout.write(`${formatReport(results)}\n`);
  if (options.jsonFile !== null) writeJson(options.jsonFile, results);
  const { total } = summarize(results);
  const broken = total.failed + (options.strict ? total.not_run : 0);
  return broken > 0 || total.passed === 0 ? EXIT_FAILED : 0;
}

async function run(options: WorldOptions, only: string | null): Promise<Result[]> {
  const world = await createWorld(options);
  try {
    const cases = ALL_CASES.filter(({ id }) => only === null || id.startsWith(only));
    return await runSuite(world, cases, { onResult: showProgress });
  } finally {
    await world.close();
  }
}

/** Failures as they come, on the other stream: the report repeats them together. */
function showProgress(result: Result): void {
  const failure = describeFailure(result);
  if (failure !== '') process.stderr.write(`${failure}\n`);
}

function writeJson(file: string, results: readonly Result[]): void {
  const rows = results.map(({ case: one, outcome, durationMs }) => ({
    id: one.id,
    section: one.section,
    sentence: one.sentence,
    ...outcome,
    outcome: outcome.kind,
    duration_ms: Math.round(durationMs),
  }));
  writeFileSync(file, `${JSON.stringify({ ...summarize(results), cases: rows }, null, 2)}\n`);
}
