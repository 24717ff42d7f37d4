import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';

import { selectChangedTests } from './runs/changed-tests.ts';
import { readImportGraph } from './runs/import-graph.ts';
import { runRing } from './runs/run-ring.ts';
import { beginTestRun } from './runs/test-run.ts';

/**
 * `npm run test:changed`: the unit and int tests that a change may turn red, found by imports. The change is all that
 * differs from `--base` (by default the commit where this branch left origin/main), committed or not. `--list` names
 * the files alone.
 */
const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

const base = values.base ?? findBranchBase();
const untracked = git('ls-files', '--others', '--exclude-standard');
const changed = [...git('diff', '--name-only', '--no-renames', base), ...untracked];
const graph = readImportGraph([...git('ls-files'), ...untracked]);
const selected = selectChangedTests(graph, changed);
const rings = (['unit', 'int', 'e2e'] as const).filter((ring) => selected[ring].length > 0);

process.stdout.write(`${changed.length} files changed since ${base}\n`);
for (const ring of rings) process.stdout.write(`${ring}: ${selected[ring].length} test files\n`);
if (values.list) {
  process.stdout.write(rings.flatMap((ring) => selected[ring]).join('\n'));
} else if (rings.length > 0) {
  const run = beginTestRun();
  for (const ring of rings) await run.step(ring, () => runRing(ring, { files: selected[ring] }));
  process.exitCode = run.end();
}

function findBranchBase(): string {
  // A clone without a remote has no other point of comparison than its last commit.
  const remote = git('for-each-ref', 'refs/remotes/origin/main');
  return remote.length === 0 ? 'HEAD' : (git('merge-base', 'HEAD', 'origin/main')[0] ?? 'HEAD');
}

function git(...args: string[]): string[] {
  const text = execFileSync('git', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return text.split('\n').filter(Boolean);
}
