import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, inject, onTestFinished, test } from 'vitest';

const MAIN = path.resolve('packages/conformance/src/main.ts');
const CASES_MIN = 250;
const RUN_MS_MAX = 240_000;

type Report = {
  total: { cases: number; passed: number; failed: number; not_run: number };
  sections: { title: string; counts: { cases: number; passed: number } }[];
  cases: { id: string; sentence: string; outcome: string; expected?: string; got?: string }[];
};

/** By the command that people use, with everything that a running stack can give and nothing left out. */
async function runConformance(): Promise<{ exitCode: number; output: string; report: Report }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conformance-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'report.json');
  const stack = path.join(inject('home'), 'stack.json');
  const args = [MAIN, '--stack', stack, '--strict', '--json', file];
  const { exitCode, output } = await run(args);
  // Neither passed nor failed: what the command says is all there is to know.
  if (exitCode !== 0 && exitCode !== 1) throw new Error(output);
  return { exitCode, output, report: JSON.parse(await readFile(file, 'utf8')) as Report };
}

function run(args: readonly string[]): Promise<{ exitCode: number; output: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{
    exitCode: number;
    output: string;
  }>();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.on('error', reject);
  child.on('close', (code) => resolve({ exitCode: code ?? -1, output }));
  return promise;
}

test(
  'the mesh keeps every sentence of the specification that can be seen from outside',
  { timeout: RUN_MS_MAX },
  async () => {
    const { exitCode, output, report } = await runConformance();
    const broken = report.cases.filter(({ outcome }) => ['failed', 'not_run'].includes(outcome));
    expect(
      broken.map((one) => `${one.id}: ${one.sentence}: expected ${one.expected}, got ${one.got}`),
    ).toEqual([]);
    expect(report.total).toMatchObject({ failed: 0, not_run: 0 });
    expect(report.total.passed).toBeGreaterThanOrEqual(CASES_MIN);
    expect(report.sections.filter(({ counts }) => counts.passed === 0)).toEqual([]);
    expect(output).toMatch(/\d+ passed, 0 failed, 0 not run\s*$/);
    expect(exitCode).toBe(0);
  },
);
