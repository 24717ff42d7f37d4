import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { type Ring, runRing } from './runs/run-ring.ts';
import { JOURNAL, type JournalLine } from './setup/journal-reporter.ts';

/**
 * `npm run test:flaky`: every int and e2e file several times beside a process that keeps one core busy, in rounds of a
 * whole ring, each with a seed of its own. It goes on with the files that an interrupted run has left; `--again` begins
 * anew, arguments choose files by a part of their path, and `--times N` how often. Prints what was red, and how often.
 */
const HOME = '.pixmesh-flaky';
const JOURNAL_FILE = path.resolve(HOME, 'journal.ndjson');
const ROUND_LIMIT_MS = 3_600_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '5' },
    again: { type: 'boolean', default: false },
  },
});
const times = Number(values.times);

/** Without the files that only a long run has. */
const files = globSync([
  '{packages,services}/*/{src,test}/**/*.int.test.ts',
  'deploy/**/*.int.test.ts',
  'tests/e2e/{*,alone/*,measured/*,end/*}.e2e.test.ts',
])
  .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  .sort();

mkdirSync(HOME, { recursive: true });
if (values.again) rmSync(JOURNAL_FILE, { force: true });
const load = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
process.on('exit', () => load.kill('SIGKILL'));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const isComplete = (await runRounds('int')) && (await runRounds('e2e'));
process.exit(report() && isComplete ? 0 : 1);

/** Rounds until each file of the ring has had its runs. False when a round brought none of them further. */
async function runRounds(ring: Ring): Promise<boolean> {
  for (;;) {
    const runs = countRuns();
    const open = files.filter(
      (file) => file.endsWith(`.${ring}.test.ts`) && (runs.get(file) ?? 0) < times,
    );
    if (open.length === 0) return true;
    const seed = String(Date.now() % 2 ** 31);
    print(`== ${ring}: ${open.length} files to run, PIXMESH_TEST_SEED=${seed}`);
    const env = { [JOURNAL]: JOURNAL_FILE, PIXMESH_TEST_SEED: seed };
    const { counts } = await runRing(ring, { files: open, env, limitMs: ROUND_LIMIT_MS });
    print(`== ${ring}: ${counts.passed} passed, ${counts.failed} failed`);
    const after = countRuns();
    if (open.every((file) => after.get(file) === runs.get(file))) return false;
  }
}

/** Prints each red file with its failures; answers whether there is none. */
function report(): boolean {
  const lines = readJournal().filter(({ file }) => files.includes(file));
  const red = lines.filter(({ failures }) => failures.length > 0);
  for (const { file, failures } of red) print(`RED  ${file}\n     ${failures.join('\n     ')}`);
  const redFiles = new Set(red.map(({ file }) => file)).size;
  print(`${lines.length} runs of ${files.length} files: ${red.length} red, in ${redFiles} files`);
  return red.length === 0;
}

function countRuns(): Map<string, number> {
  const runs = new Map<string, number>();
  for (const { file } of readJournal()) runs.set(file, (runs.get(file) ?? 0) + 1);
  return runs;
}

function readJournal(): JournalLine[] {
  if (!existsSync(JOURNAL_FILE)) return [];
  const lines = readFileSync(JOURNAL_FILE, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as JournalLine);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
