import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * `npm test`: the quick check, then the rings `unit`, `int` and `e2e`, one after the other so that each has the
 * machine to itself. Ends with one line of counts; a ring that ran nothing is a failure.
 */
const RINGS = ['unit', 'int', 'e2e'] as const;

type Counts = { passed: number; failed: number; skipped: number };

const isLong = process.argv.includes('--long');
const total: Counts = { passed: 0, failed: 0, skipped: 0 };

await runStep('check', () => run('node', ['scripts/check.ts']));
for (const ring of RINGS) await runStep(ring, () => runRing(ring));

process.stdout.write(
  `\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`,
);
// A skipped test is a capability nobody has seen: it fails the run.
process.exitCode = total.failed + total.skipped > 0 ? 1 : 0;

async function runStep(name: string, step: () => Promise<number>): Promise<void> {
  const startedMs = performance.now();
  process.stdout.write(`\n== ${name}\n`);
  const exitCode = await step();
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  process.stdout.write(`== ${name}: ${exitCode === 0 ? 'ok' : 'FAILED'} in ${seconds} s\n`);
  if (name === 'check') total[exitCode === 0 ? 'passed' : 'failed'] += 1;
}

async function runRing(ring: string): Promise<number> {
  const report = path.join(tmpdir(), `pixmesh-${ring}-${process.pid}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const exitCode = await run('vitest', ['run', '--project', ring, ...reporters]);
  const counts = await readCounts(report);
  total.passed += counts.passed;
  total.skipped += counts.skipped;
  // A crash outside of any test, or a ring without tests, shows in the exit code alone.
  total.failed += Math.max(counts.failed, exitCode === 0 && counts.passed > 0 ? 0 : 1);
  await rm(report, { force: true });
  return exitCode;
}

async function readCounts(report: string): Promise<Counts> {
  const text = await readFile(report, 'utf8').catch(() => '{}');
  const json = JSON.parse(text) as Record<string, number | undefined>;
  return {
    passed: json['numPassedTests'] ?? 0,
    failed: json['numFailedTests'] ?? 0,
    skipped: (json['numPendingTests'] ?? 0) + (json['numTodoTests'] ?? 0),
  };
}

function run(command: string, args: readonly string[]): Promise<number> {
  const env = { ...process.env, ...(isLong ? { PIXMESH_LONG: '1' } : {}) };
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'inherit', env });
    child.on('error', () => resolve(1));
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
