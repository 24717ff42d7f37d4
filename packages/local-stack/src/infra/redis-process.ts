import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inheritedEnvironment } from '../inherited-environment.ts';
import { STAGES } from '../supervisor/child-spec.ts';
import { REDIS, findRedisBinary } from './artifacts.ts';
import { findProgram } from './find-program.ts';
import type { BootDeps } from './infra-provider.ts';
import { installArtifact } from './install-artifact.ts';
import { exchange } from './tcp-probe.ts';

const READY_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 3_000;
const PROBE = 'INFO server\r\nPING\r\n';

/** Starts Redis without persistence (it holds hints only); a `redis-server` on PATH comes first. */
export async function startRedis(
  deps: BootDeps,
  input: { home: string; port: number },
): Promise<string> {
  const command =
    findProgram('redis-server') ?? findRedisBinary(await installArtifact(deps, REDIS));
  const folder = join(input.home, 'data', 'redis');
  mkdirSync(folder, { recursive: true });
  const options = { bind: '127.0.0.1', port: String(input.port), save: '', appendonly: 'no' };
  await deps.supervisor.start({
    name: 'redis',
    command,
    args: Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
    env: inheritedEnvironment(),
    cwd: folder,
    stage: STAGES.redis,
    stopSignal: 'SIGTERM',
    stopLimitMs: STOP_LIMIT_MS,
    readyLimitMs: READY_LIMIT_MS,
    isReady: async (run) => {
      const answer = await exchange(input.port, PROBE, (text) => text.includes('+PONG'));
      return answer?.includes(`process_id:${run.pid}\r\n`) ?? false;
    },
  });
  return `redis://127.0.0.1:${input.port}`;
}
