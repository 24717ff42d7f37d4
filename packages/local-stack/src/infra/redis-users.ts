import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readOrCreatePassword } from './kept-password.ts';

/** What each user may do, by Redis's own rules (ACL); whoever has none of these names may do nothing. */
const RIGHTS = {
  // Counters of limits, and the scripts that read and write them.
  gateway:
    '~pixmesh:minute:* ~pixmesh:rate:* ~pixmesh:in-flight:* +eval +evalsha +time +get +pttl +incr +pexpire +zadd +zcard +zcount +zrem +zremrangebyscore',
  // Hints between its own processes.
  'webhook-dispatcher': '&pixmesh:webhook-dispatcher:due +publish +subscribe +unsubscribe',
  // People, scripts and tests.
  tools: '~* &* +@all',
} as const;

export type RedisUser = keyof typeof RIGHTS;

const USERS = Object.keys(RIGHTS) as RedisUser[];

/** Made at the first start of a home. */
export function keptPasswords(home: string): Record<RedisUser, string> {
  return forEachUser((user) => readOrCreatePassword(join(home, 'data', `redis-${user}.password`)));
}

/** The file of users; it holds digests, so who can read it can log in as none of them. */
export function renderRedisUsers(passwords: Readonly<Record<RedisUser, string>>): string {
  const lines = USERS.map((user) => {
    const digest = createHash('sha256').update(passwords[user]).digest('hex');
    return `user ${user} on #${digest} resetkeys resetchannels -@all +ping ${RIGHTS[user]}`;
  });
  return ['user default off', ...lines, ''].join('\n');
}

/** How Redis is reached: each user's URL, and the file of the authority where its certificate is to be verified. */
export interface RedisAccess {
  urls: Readonly<Record<RedisUser, string>>;
  caFile: string | undefined;
}

export function redisAccess(
  { port, passwords }: { port: number; passwords: Readonly<Record<RedisUser, string>> },
  caFile: string | undefined,
): RedisAccess {
  const scheme = caFile === undefined ? 'redis' : 'rediss';
  return accessOf((user) => `${scheme}://${user}:${passwords[user]}@127.0.0.1:${port}`, caFile);
}

/** One that runs already, with one user for all. */
export function givenRedis(url: string, caFile: string | undefined): RedisAccess {
  return accessOf(() => url, caFile);
}

function accessOf(urlOf: (user: RedisUser) => string, caFile: string | undefined): RedisAccess {
  return { urls: forEachUser(urlOf), caFile };
}

function forEachUser(valueOf: (user: RedisUser) => string): Record<RedisUser, string> {
  const values = Object.fromEntries(USERS.map((user) => [user, valueOf(user)]));
  return values as Record<RedisUser, string>;
}
