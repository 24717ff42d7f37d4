import { parseArgs } from 'node:util';

import { listLongParts, PART_LIMIT_MS } from './runs/long-parts.ts';
import { runCommand } from './runs/run-command.ts';
import { runRing } from './runs/run-ring.ts';
import { beginTestRun } from './runs/test-run.ts';

/**
 * `npm test`: the quick check, then the rings `unit`, `int` and `e2e`, one after the other so that each has the
 * machine to itself. `npm run test:long` runs what has larger counts, in parts of at most an hour: all of them, or
 * with `--part NAME` one; `--list` names them. What runs where, and why: docs/testing.md.
 */
const { values } = parseArgs({
  options: {
    long: { type: 'boolean', default: false },
    part: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean', default: false },
  },
});

/** A ring that takes longer hangs. */
const RING_LIMIT_MS = 30 * 60_000;

if (values.list) listParts();
else process.exitCode = values.long ? await runLong(values.part) : await runUsual();

async function runUsual(): Promise<number> {
  const run = beginTestRun();
  await run.step('check', runCheck);
  for (const ring of ['unit', 'int', 'e2e'] as const)
    await run.step(ring, () => runRing(ring, { limitMs: RING_LIMIT_MS }));
  return run.end();
}

async function runLong(names: readonly string[]): Promise<number> {
  const parts = listLongParts();
  const unknown = names.filter((name) => !parts.some((part) => part.name === name));
  if (unknown.length > 0) {
    process.stderr.write(`no such part: ${unknown.join(', ')}; --list names them\n`);
    return 1;
  }
  const run = beginTestRun();
  for (const { name, ring, share, files } of parts) {
    if (names.length > 0 && !names.includes(name)) continue;
    const env = { PIXMESH_LONG: '1', PIXMESH_LONG_SHARE: share };
    await run.step(name, () => runRing(ring, { files, env, limitMs: PART_LIMIT_MS }));
  }
  return run.end();
}

async function runCheck() {
  const failed = (await runCommand('node', ['scripts/check.ts'])) === 0 ? 0 : 1;
  return {
    counts: { passed: 1 - failed, failed, skipped: 0 },
    failures: failed > 0 ? ['npm run check'] : [],
    files: [],
  };
}

function listParts(): void {
  for (const { name, ring, files } of listLongParts()) {
    process.stdout.write(`${name} (${ring})\n${files.map((file) => `  ${file}\n`).join('')}`);
  }
}
