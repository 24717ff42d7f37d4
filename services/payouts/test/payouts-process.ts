import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

import type { TenantClaims } from '@pixmesh/contracts/internal/caller-claims';
import { bootProcess } from '@pixmesh/testkit/boot-process';
import { armFailpointsAt } from '@pixmesh/testkit/mesh-calls';
import { processEnvironment } from '@pixmesh/testkit/process-environment';

import { callPayouts, type PayoutsEnvironment } from './payouts-environment.ts';

export type PayoutsProcess = AsyncDisposable & {
  request(
    caller: TenantClaims | null,
    route: string,
    body?: unknown,
  ): ReturnType<typeof callPayouts>;
  /** Arms failpoints, `kill` among their actions. */
  arm(actions: Record<string, 'kill' | 'hang' | 'error'>): Promise<void>;
  /** What it has written to its log. */
  logged(): string;
  /** How the process ended: its code, or the signal. */
  readonly ended: Promise<number | string>;
  /** Asks it to stop in order, and answers its exit code. */
  stop(): Promise<number | string>;
};

/** The service as the process that production runs. */
export async function startPayoutsProcess(
  environment: PayoutsEnvironment,
  settings: Record<string, string> = {},
): Promise<PayoutsProcess> {
  let logged = '';
  const { child, ports } = await bootProcess(3, ([internalPort, port, failpointsPort]) => {
    const started = spawn(process.execPath, ['services/payouts/src/main.ts'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...processEnvironment(),
        ...environment.variables,
        PORT: String(port),
        INTERNAL_PORT: String(internalPort),
        FAILPOINTS_PORT: String(failpointsPort),
        ...settings,
      },
    });
    started.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      logged += chunk;
    });
    return started;
  });
  const [, port, failpointsPort] = ports;
  const ended = endOf(child);
  return {
    request: (caller, route, body) =>
      callPayouts(`https://127.0.0.1:${port}`, { caller, route, body }),
    arm: (actions) => armFailpointsAt('payouts', `https://127.0.0.1:${failpointsPort}`, actions),
    logged: () => logged,
    ended,
    stop: async () => {
      child.kill('SIGTERM');
      return await ended;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function endOf(child: ChildProcess): Promise<number | string> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return code ?? signal ?? 'unknown';
}
