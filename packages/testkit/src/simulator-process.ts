import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';

import pg from 'pg';

import { bootProcess } from './boot-process.ts';
import { hasEnded } from './owned-process.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

export const SIMULATOR_CREDENTIALS = {
  clientId: 'client',
  clientSecret: 'secret-of-the-client',
  pixKey: '6f1c2f64-1c6d-4a2e-9d5b-0c3c1f3a9e10',
} as const;

export type SimulatorProcess = AsyncDisposable & {
  readonly url: string;
  /** Its own database, for states that no call of it brings about. */
  readonly databaseUrl: string;
  /** A call of its control API; answers the parsed body. */
  control(method: string, path: string, body?: object): Promise<unknown>;
};

type Running = { url: string; child: ChildProcess; database: TestDatabase };

const DEADLOCK_DETECTED = '40P01';

/** However the worker ends, the pipe to it is closed then. */
const ENDING_WITH_WORKER = `data:text/javascript,${encodeURIComponent(
  `process.stdin.resume().once('end', () => process.exit()).unref();`,
)}`;

/** One that an earlier file of this worker used: to empty it costs a fraction of another start. */
let unused: Running | null = null;

/**
 * The acquirer simulator as a process of its own on a database of its own: another system, black box. Without settings
 * of its own it may be the process of an earlier file, with nothing in it.
 */
export async function startSimulatorProcess(
  environment: Record<string, string> = {},
): Promise<SimulatorProcess> {
  const isPlain = Object.keys(environment).length === 0;
  const running = (isPlain ? takeUnused() : null) ?? (await boot(environment));
  const { url, database } = running;
  return {
    url,
    databaseUrl: database.url,
    control: (method, path, body) => control(url + path, method, body),
    [Symbol.asyncDispose]: async () => {
      if (!isPlain || unused !== null || hasEnded(running.child)) return await end(running);
      if (await empty(running)) unused = running;
      else await end(running);
    },
  };
}

function takeUnused(): Running | null {
  const taken = unused;
  unused = null;
  return taken;
}

async function boot(environment: Record<string, string>): Promise<Running> {
  const database = await createTestDatabase('acquirer_simulator');
  const main = 'services/acquirer-simulator/src/main.ts';
  const { child, ports } = await bootProcess(3, ([internalPort, port, receiverPort]) =>
    spawn(process.execPath, ['--import', ENDING_WITH_WORKER, main], {
      stdio: ['pipe', 'ignore', 'pipe'],
      env: {
        ...process.env,
        NODE_ENV: 'test',
        LOG_LEVEL: 'error',
        DATABASE_URL: database.url,
        PORT: String(port),
        RECEIVER_PORT: String(receiverPort),
        INTERNAL_PORT: String(internalPort),
        ACQUIRER_CLIENT_ID: SIMULATOR_CREDENTIALS.clientId,
        ACQUIRER_CLIENT_SECRET: SIMULATOR_CREDENTIALS.clientSecret,
        ACQUIRER_PIX_KEY: SIMULATOR_CREDENTIALS.pixKey,
        ...environment,
      },
    }),
  );
  // It may outlive its file, and must not keep the worker from ending.
  child.unref();
  for (const stream of [child.stdin, child.stderr]) (stream as Socket).unref();
  return { url: `http://127.0.0.1:${ports[1]}`, child, database };
}

async function end({ child, database }: Running): Promise<void> {
  child.kill('SIGTERM');
  if (!hasEnded(child)) await once(child, 'exit');
  await database[Symbol.asyncDispose]();
}

/**
 * What its process holds in memory goes back by the control API, the rest is deleted. False where it is still at work
 * for a client that has gone, and the one locks what the other waits for.
 */
async function empty({ url, database }: Running): Promise<boolean> {
  await control(`${url}/control/faults`, 'DELETE');
  await control(`${url}/control/clock`, 'DELETE');
  await control(`${url}/control/profile`, 'PUT', { name: 'manual' });
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname = 'acquirer_simulator' and tablename <> all ('{clock,settings}') and tablename !~ '(^|_)migrations$'`);
    await client.query(`truncate ${rows.map(({ name }) => name).join()} restart identity`);
    await client.query(`delete from acquirer_simulator.settings where name = 'tariff'`);
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === DEADLOCK_DETECTED) return false;
    throw error;
  } finally {
    await client.end();
  }
}

async function control(url: string, method: string, body?: object): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}`);
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}
