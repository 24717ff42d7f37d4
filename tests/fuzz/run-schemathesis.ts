import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { installRequirements } from '../python/install-requirements.ts';

const CONFIG = fileURLToPath(new URL('schemathesis.toml', import.meta.url));

const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));

/** More than this many runs in a row mean that the document has nothing left to try. */
const RUNS_MAX = 40;

export type FuzzOptions = {
  gatewayUrl: string;
  /** The OpenAPI document as it was served. */
  document: object;
  key: string;
  /** Of another application, for the routes of endpoints. */
  webhooksKey: string;
  /** How many calls to make at least, besides those at the bounds. */
  calls: number;
  /** Whether all calls so far, those at the bounds among them, have shown enough. */
  isEnough: (calls: readonly FuzzedCall[]) => boolean;
  /** Ids of the operations that are called with every value at a bound of their schemas. */
  bounded: readonly string[];
  seed: number;
  /** Examples of each operation in one run. */
  examples: number;
  /** Where reports are kept. */
  folder: string;
  timeoutMs: number;
};

/** One call of the fuzzer and its answer, as they went over the wire. */
export type FuzzedCall = {
  method: string;
  url: string;
  requestBody: string | null;
  status: number;
  headers: Record<string, string>;
  text: string;
};

export type FuzzReport = {
  calls: FuzzedCall[];
  /** What schemathesis said about each run that failed; empty when all of them passed. */
  failures: string[];
};

/**
 * Fuzzes a gateway by its document: values at the bounds of some operations' schemas, then valid and invalid data,
 * missing keys, other methods, and chains of calls of all. Runs with seed, seed + 1, … until enough calls were made and
 * have shown enough; each of them can be repeated alone.
 */
export async function runSchemathesis(options: FuzzOptions): Promise<FuzzReport> {
  const programs = await installRequirements(REQUIREMENTS, { name: 'schemathesis' });
  const program = path.join(programs, 'schemathesis');
  const work = path.join(options.folder, 'runs');
  mkdirSync(work, { recursive: true });
  const document = path.join(work, 'openapi.json');
  writeFileSync(document, JSON.stringify(options.document));
  const deadline = AbortSignal.timeout(options.timeoutMs);
  const report: FuzzReport = { calls: [], failures: [] };
  // They are the same in every run: once is enough.
  const included = options.bounded.flatMap((id) => ['--include-operation-id', id]);
  await run({ name: 'bounds', seed: options.seed, flags: ['--phases', 'coverage', ...included] });
  const callsMin = report.calls.length + options.calls;
  const isOver = () => report.calls.length >= callsMin && options.isEnough(report.calls);
  for (let index = 0; index < RUNS_MAX && !isOver(); index += 1) {
    const seed = options.seed + index;
    const phases = index === 0 ? 'examples,fuzzing,stateful' : 'fuzzing,stateful';
    await run({ name: `${seed}`, seed, flags: ['--phases', phases] });
  }
  return report;

  async function run(one: Run): Promise<void> {
    const { name, seed, flags } = one;
    const har = path.join(work, `${name}.har`);
    rmSync(har, { force: true });
    const args = ['--config-file', CONFIG, '--no-color', 'run', document];
    args.push('--url', options.gatewayUrl, '--seed', `${seed}`, ...flags);
    args.push('--max-examples', `${options.examples}`, '--continue-on-failure');
    args.push('--report', 'har', '--report-har-path', har);
    const ended = await runProgram(program, args, { options, run: one, deadline });
    if (!existsSync(har)) throw new Error(`schemathesis did not run: ${ended.output}`);
    report.calls.push(...readCalls(har));
    writeFileSync(path.join(work, `${name}.txt`), ended.output);
    if (ended.exitCode !== 0) report.failures.push(`${name}, seed ${seed}:\n${ended.output}`);
  }
}

/** One run of the program; its reports have this name. */
type Run = { name: string; seed: number; flags: readonly string[] };

type ProgramRun = { options: FuzzOptions; run: Run; deadline: AbortSignal };

type Ended = { exitCode: number | null; output: string };

async function runProgram(
  program: string,
  args: readonly string[],
  { options, run: { name, seed }, deadline }: ProgramRun,
): Promise<Ended> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: deadline,
    cwd: options.folder,
    env: {
      ...process.env,
      PYTHONPATH: path.dirname(CONFIG),
      PYTHONHASHSEED: '0',
      PYTHONDONTWRITEBYTECODE: '1',
      // Two runs with one seed must not use one key.
      PIXMESH_FUZZ_RUN: `${seed}-${name}`,
      PIXMESH_FUZZ_GATEWAY: options.gatewayUrl,
      PIXMESH_FUZZ_KEY: options.key,
      PIXMESH_FUZZ_WEBHOOKS_KEY: options.webhooksKey,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  return await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, output }));
  });
}

type HarMessage = {
  headers: { name: string; value: string }[];
};
type HarEntry = {
  request: HarMessage & { method: string; url: string; postData?: { text: string } };
  response: HarMessage & { status: number; content: { text?: string } };
};

function readCalls(har: string): FuzzedCall[] {
  const { log } = JSON.parse(readFileSync(har, 'utf8')) as { log: { entries: HarEntry[] } };
  return log.entries.map(({ request, response }) => ({
    method: request.method,
    url: request.url,
    requestBody: request.postData?.text ?? null,
    status: response.status,
    headers: Object.fromEntries(
      response.headers.map(({ name, value }) => [name.toLowerCase(), value]),
    ),
    text: response.content.text ?? '',
  }));
}
