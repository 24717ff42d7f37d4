import { spawn } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { startInfra } from '@pixmesh/local-stack/infra/start-infra';

import { type Ring, runRing } from './runs/run-ring.ts';

/**
 * `npm run test:flaky`: every int and e2e file several times beside a process that keeps one core busy. It takes hours
 * and goes on where it was interrupted; `--again` begins anew, arguments choose files by a part of their path, and
 * `--times N` how often. Prints the files that were red, and how often.
 */
const HOME = '.pixmesh-flaky';
const STATE = path.join(HOME, 'state.json');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '5' },
    again: { type: 'boolean', default: false },
  },
});
const times = Number(values.times);
/** Runs and red runs by file. */
const state: Record<string, { runs: number; red: number }> = values.again ? {} : readState();

const files = globSync([
  '{packages,services}/*/{src,test}/**/*.int.test.ts',
  'deploy/**/*.int.test.ts',
  'tests/e2e/**/*.e2e.test.ts',
])
  .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  .sort();

const load = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
process.on('exit', () => load.kill('SIGKILL'));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

await runAll('int');
await runAll('e2e');

const red = files.filter((file) => (state[file]?.red ?? 0) > 0);
for (const file of red) print(`RED ${state[file]?.red} of ${state[file]?.runs}  ${file}`);
print(`${files.length - red.length} files green, ${red.length} red`);
process.exit(red.length > 0 ? 1 : 0);

async function runAll(ring: Ring): Promise<void> {
  const own = files.filter((file) => file.endsWith(`.${ring}.test.ts`));
  const open = own.filter((file) => (state[file]?.runs ?? 0) < times);
  if (open.length === 0) return;
  const isInt = ring === 'int';
  await using infra = isInt ? await startInfra(infraOptions()) : null;
  const env = infra === null ? {} : variablesOf(infra.urls);
  for (const file of open) await runFile(ring, file, env);
}

async function runFile(ring: Ring, file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const counts = (state[file] ??= { runs: 0, red: 0 });
  while (counts.runs < times) {
    const { failures } = await runRing(ring, { files: [file], env, silent: true });
    counts.runs += 1;
    if (failures.length > 0) counts.red += 1;
    writeState();
    print(`${failures.length > 0 ? 'red  ' : 'green'} ${counts.runs}/${times} ${file}`);
    for (const failure of failures) print(`      ${failure}`);
  }
}

function infraOptions() {
  return { home: path.join(HOME, 'infra'), mode: 'from-environment', isThrowaway: true } as const;
}

function variablesOf(urls: Awaited<ReturnType<typeof startInfra>>['urls']): NodeJS.ProcessEnv {
  return {
    POSTGRES_URL: urls.postgresUrl,
    KAFKA_BROKERS: urls.kafkaBrokers.join(','),
    SCHEMA_REGISTRY_URL: urls.registryUrl,
    REDIS_URL: urls.redisUrl,
  };
}

function readState(): typeof state {
  try {
    return JSON.parse(readFileSync(STATE, 'utf8')) as typeof state;
  } catch {
    return {};
  }
}

function writeState(): void {
  mkdirSync(HOME, { recursive: true });
  writeFileSync(STATE, JSON.stringify(state, null, 2));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
