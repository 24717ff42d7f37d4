import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { eventually } from './eventually.ts';
import { freePorts } from './free-ports.ts';
import { ownProcess } from './owned-process.ts';
import { createTestDatabase } from './test-database.ts';

export const SIMULATOR_CREDENTIALS = {
  clientId: 'client',
  clientSecret: 'secret-of-the-client',
  pixKey: '6f1c2f64-1c6d-4a2e-9d5b-0c3c1f3a9e10',
} as const;

/** A busy machine takes its time. */
const BOOT_TIMEOUT_MS = 30_000;

export type SimulatorProcess = AsyncDisposable & {
  readonly url: string;
  /** Its own database, for states that no call of it brings about. */
  readonly databaseUrl: string;
  /** A call of its control API; answers the parsed body. */
  control(method: string, path: string, body?: object): Promise<unknown>;
};

/** The acquirer simulator as a process of its own on a database of its own: another system, black box. */
export async function startSimulatorProcess(
  environment: Record<string, string> = {},
): Promise<SimulatorProcess> {
  const database = await createTestDatabase('acquirer_simulator');
  const [port = 0, receiverPort = 0, internalPort = 0] = await freePorts(3);
  const child = spawn(process.execPath, ['services/acquirer-simulator/src/main.ts'], {
    stdio: ['ignore', 'ignore', 'pipe'],
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
  });
  ownProcess(child);
  try {
    await eventually(async () => {
      const response = await fetch(`http://127.0.0.1:${internalPort}/readyz`);
      if (!response.ok) throw new Error('the simulator is not ready');
    }, BOOT_TIMEOUT_MS);
  } catch (error) {
    // A child that outlives its test keeps the whole run from ending.
    child.kill('SIGKILL');
    throw error;
  }
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    databaseUrl: database.url,
    control: (method, path, body) => control(url + path, method, body),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      await database[Symbol.asyncDispose]();
    },
  };
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
