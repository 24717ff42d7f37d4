import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { bootProcess } from '@pixmesh/testkit/boot-process';
import { armFailpointsAt } from '@pixmesh/testkit/mesh-calls';
import { processEnvironment } from '@pixmesh/testkit/process-environment';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const COMMAND = [
  '--import',
  '@pixmesh/telemetry/preload',
  'services/webhook-dispatcher/src/main.ts',
];

export type DispatcherProcess = AsyncDisposable & {
  /** Everything it has printed. */
  output(): string;
  armFailpoint(name: string, action: 'kill' | 'hang' | 'error'): Promise<void>;
  /** Resolves with the signal or exit code that ended it. */
  ended(): Promise<string | number>;
  /** Ends it as a machine that loses its power does. */
  kill(): void;
  /** The sum of one of its counters over all labels, or over those with one; 0 while it has counted nothing. */
  readCounter(name: string, label?: string): Promise<number>;
  /** Asks it to end and answers as `ended` does. */
  stop(): Promise<string | number>;
};

/** Runs the service as it runs everywhere, as a process of its own, and waits until it is ready. */
export async function startDispatcherProcess(env: NodeJS.ProcessEnv): Promise<DispatcherProcess> {
  let output = '';
  const { child, ports } = await bootProcess(2, ([internalPort, failpointsPort]) => {
    const started = spawn(process.execPath, COMMAND, {
      cwd: REPOSITORY,
      env: {
        ...processEnvironment(),
        ...env,
        SERVICE_NAME: 'webhook-dispatcher',
        INTERNAL_PORT: String(internalPort),
        FAILPOINTS_PORT: String(failpointsPort),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [started.stdout, started.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    return started;
  });
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const [internalPort, failpointsPort] = ports;
  const internal = `http://127.0.0.1:${internalPort}`;
  return {
    output: () => output,
    armFailpoint: (name, action) =>
      armFailpointsAt('webhook-dispatcher', `https://127.0.0.1:${failpointsPort}`, {
        [name]: action,
      }),
    kill: () => void child.kill('SIGKILL'),
    readCounter: async (name, label = '') =>
      sumOf({ name, label }, await (await fetch(`${internal}/metrics`)).text()),
    ended,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };

  async function ended(): Promise<string | number> {
    const [code, signal] = await exit;
    return signal ?? code ?? 0;
  }

  async function stop(): Promise<string | number> {
    child.kill('SIGTERM');
    return await ended();
  }
}

/** Of the lines `name{labels} value`. */
function sumOf({ name, label }: { name: string; label: string }, metrics: string): number {
  const lines = metrics
    .split('\n')
    .filter((line) => /^\w+/.exec(line)?.[0] === name && line.includes(label));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
