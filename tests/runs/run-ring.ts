import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { readReport, type RunReport } from './read-report.ts';
import { runCommand } from './run-command.ts';

export type Ring = 'unit' | 'int' | 'e2e';

type RingOptions = {
  /** Of its files those alone; without it all of them. */
  files?: readonly string[];
  env?: NodeJS.ProcessEnv;
  limitMs?: number;
};

/** Runs a ring (all projects that begin with its name), or some of its files. What fails outside of any test counts as a failure, as does a ring without tests. */
export async function runRing(ring: Ring, options: RingOptions = {}): Promise<RunReport> {
  const { files = [], ...command } = options;
  const output = path.join(tmpdir(), `pixmesh-${ring}-${process.pid}.json`);
  const reporters = ['default', 'json', './tests/setup/journal-reporter.ts'].map(
    (reporter) => `--reporter=${reporter}`,
  );
  const exitCode = await runCommand(
    'vitest',
    ['run', '--project', `${ring}*`, ...reporters, `--outputFile.json=${output}`, ...files],
    command,
  );
  const report = await readReport(output);
  await rm(output, { force: true });
  const isWhole = exitCode === 0 && report.counts.passed > 0;
  if (isWhole || report.counts.failed > 0) return report;
  const failures = [...report.failures, `no test by name; vitest ended with ${exitCode}`];
  return { ...report, failures, counts: { ...report.counts, failed: 1 } };
}
