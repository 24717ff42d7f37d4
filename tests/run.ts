import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * `npm test`: the quick check, then the rings `unit`, `int` and `e2e`, one after the other so that each has the
 * machine to itself. Ends with what failed, by name, and one line of counts; a ring that ran nothing is a failure.
 */
const RINGS = ['unit', 'int', 'e2e'] as const;

type Counts = { passed: number; failed: number; skipped: number };

/** The part of vitest's JSON report that is read here. */
type Report = {
  numPassedTests?: number;
  numFailedTests?: number;
  numPendingTests?: number;
  numTodoTests?: number;
  testResults?: readonly TestFile[];
};

type TestFile = {
  name: string;
  status: string;
  message: string;
  assertionResults: readonly { fullName: string; status: string; failureMessages?: string[] }[];
};

const isLong = process.argv.includes('--long');
const total: Counts = { passed: 0, failed: 0, skipped: 0 };
const failures: string[] = [];

await runStep('check', () => run('node', ['scripts/check.ts']));
for (const ring of RINGS) await runStep(ring, () => runRing(ring));

// By name and at the very end: of a long log the end is what is kept and read.
for (const failure of failures) process.stdout.write(`\nFAILED ${failure}\n`);
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
  if (name !== 'check') return;
  total[exitCode === 0 ? 'passed' : 'failed'] += 1;
  if (exitCode !== 0) failures.push('npm run check');
}

async function runRing(ring: string): Promise<number> {
  const report = path.join(tmpdir(), `pixmesh-${ring}-${process.pid}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const exitCode = await run('vitest', ['run', '--project', `${ring}*`, ...reporters]);
  const { counts, failed } = await readReport(report);
  total.passed += counts.passed;
  total.skipped += counts.skipped;
  // A crash outside of any test, or a ring without tests, shows in the exit code alone.
  total.failed += Math.max(counts.failed, exitCode === 0 && counts.passed > 0 ? 0 : 1);
  if (exitCode !== 0 && failed.length === 0)
    failed.push(`no test by name; it ended with ${exitCode}`);
  failures.push(...failed.map((failure) => `${ring}: ${failure}`));
  await rm(report, { force: true });
  return exitCode;
}

async function readReport(file: string): Promise<{ counts: Counts; failed: string[] }> {
  const text = await readFile(file, 'utf8').catch(() => '{}');
  const report = JSON.parse(text) as Report;
  const counts = {
    passed: report.numPassedTests ?? 0,
    failed: report.numFailedTests ?? 0,
    skipped: (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0),
  };
  return { counts, failed: (report.testResults ?? []).flatMap(describeFailures) };
}

function describeFailures(file: TestFile): string[] {
  const name = path.relative(process.cwd(), file.name);
  const failed = file.assertionResults.filter((test) => test.status === 'failed');
  if (file.status === 'failed' && failed.length === 0) return [`${name}\n  ${file.message}`];
  return failed.map(
    (test) => `${name} > ${test.fullName}\n  ${firstLine(test.failureMessages?.[0])}`,
  );
}

function firstLine(message = ''): string {
  return message.split('\n', 1)[0] ?? '';
}

function run(command: string, args: readonly string[]): Promise<number> {
  const env = { ...process.env, ...(isLong ? { PIXMESH_LONG: '1' } : {}) };
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'inherit', env });
    child.on('error', () => resolve(1));
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
