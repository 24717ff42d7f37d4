import { testSeed } from '@pixmesh/testkit/test-seed';

import { busyShare } from './busy-share.ts';
import {
  type Counts,
  describeCounts,
  type FileTime,
  type RunReport,
  slowest,
} from './read-report.ts';

const SLOWEST_SHOWN = 20;

/** One run of tests in steps: prints each as it ends, and the sum of all at the end. */
export type TestRun = {
  step(name: string, run: () => Promise<RunReport>): Promise<void>;
  /** Prints failures by name, the slowest files and, as the last line, the counts; answers the exit code. */
  end(): number;
};

/** Begins a run, whose seed every process of it gets. */
export function beginTestRun(): TestRun {
  const seed = testSeed();
  process.env['PIXMESH_TEST_SEED'] = String(seed);
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  const lines: string[] = [];
  const failures: string[] = [];
  const files: FileTime[] = [];
  print(`seed ${seed}: PIXMESH_TEST_SEED=${seed} repeats this run`);
  return { step, end };

  async function step(name: string, run: () => Promise<RunReport>): Promise<void> {
    const startedMs = performance.now();
    print(`\n== ${name}`);
    const { share, done } = await busyShare(run());
    const { counts, ...report } = done;
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    const line = `== ${name}: ${counts.failed === 0 ? 'ok' : 'FAILED'} in ${seconds} s, ${describeCounts(counts)}, cores ${(share * 100).toFixed(0)} % busy`;
    print(line);
    lines.push(line);
    failures.push(...report.failures.map((failure) => `${name}: ${failure}`));
    files.push(...report.files);
    for (const key of ['passed', 'failed', 'skipped'] as const) total[key] += counts[key];
  }

  function end(): number {
    print(`\nThe slowest files:`);
    for (const { file, ms } of slowest(files, SLOWEST_SHOWN)) {
      print(`${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`);
    }
    // By name and at the very end: of a long log the end is what is kept and read.
    for (const failure of failures) print(`\nFAILED ${failure}`);
    print(`\n${lines.join('\n')}\nseed ${seed}\n\n${describeCounts(total)}`);
    // A skipped test is a capability nobody has seen: it fails the run.
    return total.failed + total.skipped > 0 ? 1 : 0;
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
