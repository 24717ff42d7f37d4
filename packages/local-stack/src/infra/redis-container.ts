import { renderRedisUsers } from '@pixmesh/contracts/internal/redis-rights';
import { askRedis } from './ask-redis.ts';
import { IDENTITY_FOLDER, identityFiles } from './container-identity.ts';
import type { ContainerSpec } from './container-runs.ts';
import { identityPaths } from './identities.ts';
import { tlsOptions, toArguments } from './redis-server.ts';
import { keptPasswords, type RedisAccess, redisAccess } from './redis-users.ts';

const IMAGE = 'redis:8';
const PORT = 6379;
const USERS_FILE = '/pixmesh-users.acl';

/** Redis as a container, with the users and the certificate that it has as a process. */
export function describeRedis(
  home: string,
  port: number,
): { spec: ContainerSpec; access: RedisAccess } {
  const passwords = keptPasswords(home);
  const access = redisAccess({ port, passwords }, identityPaths(home, 'tools').ca);
  const options = {
    save: '',
    appendonly: 'no',
    aclfile: USERS_FILE,
    ...tlsOptions(IDENTITY_FOLDER, PORT),
  };
  const spec: ContainerSpec = {
    name: 'redis',
    image: IMAGE,
    ports: { container: PORT, host: port },
    environment: {},
    files: [
      { target: USERS_FILE, content: renderRedisUsers(passwords) },
      ...identityFiles(home, 'redis'),
    ],
    command: ['redis-server', ...toArguments(options)],
    isReady: async () => (await askRedis(access, ['PING'])) === 'PONG',
  };
  return { spec, access };
}
