import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { renderRedisUsers } from '@pixmesh/contracts/internal/redis-rights';
import { IDENTITY_FILES, openMeshIdentity } from '@pixmesh/certificates/mesh-identity';
import { serverEnvironment } from '../inherited-environment.ts';
import { STAGES } from '../supervisor/child-spec.ts';
import { writeFileAtomically } from '../write-file-atomically.ts';
import { REDIS, findRedisBinary } from './artifacts.ts';
import { askRedis } from './ask-redis.ts';
import { identityFolder, identityPaths } from './identities.ts';
import type { BootDeps } from './infra-provider.ts';
import { installArtifact } from './install-artifact.ts';
import { findRedisServer, speaksTls, tlsOptions, toArguments } from './redis-server.ts';
import { keptPasswords, type RedisAccess, redisAccess } from './redis-users.ts';

const READY_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 3_000;

/** Starts Redis without persistence (it holds hints only); a `redis-server` on PATH comes first. */
export async function startRedis(
  deps: BootDeps,
  { home, port }: { home: string; port: number },
): Promise<RedisAccess> {
  const command = findRedisServer() ?? findRedisBinary(await installArtifact(deps, REDIS));
  const hasTls = speaksTls(command);
  if (!hasTls) deps.log.line(`redis: ${command} was built without TLS`);
  const folder = join(home, 'data', 'redis');
  mkdirSync(folder, { recursive: true });
  const passwords = keptPasswords(home);
  const users = join(folder, 'users.acl');
  writeFileAtomically(users, renderRedisUsers(passwords));
  const access = redisAccess(
    { port, passwords },
    hasTls ? identityPaths(home, 'tools').ca : undefined,
  );
  const ask = (...words: string[]) => askRedis(access, words);
  await deps.supervisor.start({
    name: 'redis',
    command,
    args: toArguments({
      bind: '127.0.0.1',
      save: '',
      appendonly: 'no',
      aclfile: users,
      ...(hasTls ? tlsOptions(identityFolder(home, 'redis'), port) : { port: String(port) }),
    }),
    env: serverEnvironment(),
    cwd: folder,
    stage: STAGES.redis,
    stopSignal: 'SIGTERM',
    stopLimitMs: STOP_LIMIT_MS,
    readyLimitMs: READY_LIMIT_MS,
    isReady: async (run) =>
      (await ask('INFO', 'server'))?.includes(`process_id:${run.pid}\r\n`) ?? false,
  });
  if (hasTls) followCertificate(deps, { home, ask });
  return access;
}

/** Redis reads its files at its start, and when one of them is named again. */
function followCertificate(
  { supervisor, log }: BootDeps,
  { home, ask }: { home: string; ask(...words: string[]): Promise<string | undefined> },
): void {
  const folder = identityFolder(home, 'redis');
  const logger = {
    info: () => undefined,
    error: (_fields: object, message: string) => log.line(`redis: ${message}`),
  };
  const identity = openMeshIdentity({ folder, logger });
  const reload = async () => {
    const answer = await ask('CONFIG', 'SET', 'tls-cert-file', join(folder, IDENTITY_FILES.cert));
    if (answer !== 'OK') log.line('redis: its new certificate was not taken');
  };
  identity.onChange(() => void reload());
  supervisor.onStop(async () => identity[Symbol.asyncDispose]());
}
