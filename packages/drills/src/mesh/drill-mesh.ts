import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';

import { readStackFile, type StackFile } from '@pixmesh/local-stack/mesh/stack-file';
import { REPOSITORY_ROOT } from '@pixmesh/local-stack/repository';
import pg from 'pg';

export type Json = Record<string, unknown>;
export type Answer = { status: number; body: Json };
/** A call in words, such as `GET /admin/reconciliation`. */
type Asked = { route: string; headers?: Record<string, string>; body?: object };

const ANSWER_MS_MAX = 30_000;

/** A mesh of the drill's own: its folder, its processes, and how they are spoken with. */
export type DrillMesh = {
  home: string;
  /** Read anew each time: restarts change the pids. */
  stack(): StackFile;
  v1(key: string, asked: Asked): Promise<Answer>;
  admin(asked: Asked): Promise<Answer>;
  simulator(asked: Asked): Promise<Answer>;
  /** Rows of a statement, as the superuser. */
  query<Row extends object>(statement: string, values?: readonly unknown[]): Promise<Row[]>;
  /** The sum of a metric over all processes of a service; 0 where none shows it. */
  metric(service: string, name: string): Promise<number>;
  /** A signal to one process of the stack. */
  signal(name: string, signal: NodeJS.Signals): void;
  /** The same to the processes that it has started, too, as Postgres one for each connection. */
  signalAll(name: string, signal: NodeJS.Signals): void;
};

function openMesh(home: string): DrillMesh {
  const stack = () => readStackFile(home);
  return {
    home,
    stack,
    v1: (key, asked) =>
      call(stack().gateway_url, {
        ...asked,
        route: asked.route.replace(' ', ' /v1'),
        headers: { 'x-api-key': key, ...asked.headers },
      }),
    admin: (asked) =>
      call(stack().admin_url, {
        ...asked,
        headers: { authorization: `Bearer ${stack().admin_token}`, ...asked.headers },
      }),
    simulator: (asked) => call(stack().simulator_url, asked),
    query: (statement, values = []) => query(stack().postgres_url, statement, values),
    metric: (service, name) => readMetric(stack(), { service, name }),
    signal: (name, signal) => {
      process.kill(pidOf(name), signal);
    },
    signalAll: (name, signal) => {
      for (const pid of familyOf(pidOf(name))) process.kill(pid, signal);
    },
  };

  function pidOf(name: string): number {
    const pid = stack().pids[name];
    if (pid === undefined) throw new Error(`no process is named ${name}`);
    return pid;
  }
}

/** A process and those that descend from it, the oldest first. */
function familyOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const pairs = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const family = [pid];
  for (const parent of family) {
    family.push(...pairs.flatMap(([child = 0, of]) => (of === parent ? [child] : [])));
  }
  return family;
}

/** `npm start` of a home of its own; resolves when it is ready. @throws Error where it does not become ready */
export async function startMesh(
  home: string,
  options: { settings?: Readonly<Record<string, string>>; isObserved?: boolean } = {},
): Promise<DrillMesh> {
  const { settings = {}, isObserved = false } = options;
  mkdirSync(home, { recursive: true });
  const args = ['--', '--detach', '--no-demo', ...(isObserved ? ['--observe'] : [])];
  await runScript('start', args, { ...settings, PIXMESH_HOME: home });
  return openMesh(home);
}

export async function stopMesh(home: string): Promise<void> {
  await runScript('stop', [], { PIXMESH_HOME: home });
}

/** Nothing of an earlier run stays. */
export async function clearHome(home: string): Promise<void> {
  await stopMesh(home);
  rmSync(home, { recursive: true, force: true });
}

export async function query<Row extends object>(
  url: string,
  statement: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(statement, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** @throws Error that shows the answer */
export function succeeded(route: string, answer: Answer): Answer {
  if (answer.status >= 300) {
    throw new Error(`${route}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  return answer;
}

/** A command of `deploy/backup`, as an operator runs it; answers what it prints. */
export function runBackup(args: readonly string[], env: Readonly<Record<string, string>>): Json {
  const script = path.join(REPOSITORY_ROOT, 'deploy/backup/main.ts');
  const { PATH = '' } = process.env;
  const run = spawnSync(process.execPath, [script, ...args], {
    cwd: REPOSITORY_ROOT,
    env: { PATH, NODE_ENV: 'development', ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (run.status !== 0) throw new Error(`backup ${args[0]} ended with ${run.status} ${run.stdout}`);
  return JSON.parse(run.stdout) as Json;
}

async function runScript(
  name: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const child = spawn('npm', ['run', '--silent', name, ...args], {
    cwd: REPOSITORY_ROOT,
    env: { ...process.env, ...settings },
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`npm run ${name} ended with ${code}`);
}

async function call(origin: string, { route, headers, body }: Asked): Promise<Answer> {
  const [method = 'GET', place = ''] = route.split(' ');
  const response = await fetch(origin + place, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Json) };
}

async function readMetric(
  { internal_urls: urls }: StackFile,
  { service, name }: { service: string; name: string },
): Promise<number> {
  const own = Object.keys(urls).filter((one) => one === service || one.startsWith(`${service}-`));
  let sum = 0;
  for (const process of own) {
    const text = await (await fetch(`${urls[process]}/metrics`)).text();
    const lines = text
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
    sum += lines.reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
  }
  return sum;
}
