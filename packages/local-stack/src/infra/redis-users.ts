import { join } from 'node:path';
import { REDIS_USERS, type RedisUser } from '@pixmesh/contracts/internal/redis-rights';
import { readOrCreatePassword } from './kept-password.ts';

/** Made at the first start of a home. */
export function keptPasswords(home: string): Record<RedisUser, string> {
  return forEachUser((user) => readOrCreatePassword(join(home, 'data', `redis-${user}.password`)));
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
  const values = Object.fromEntries(REDIS_USERS.map((user) => [user, valueOf(user)]));
  return values as Record<RedisUser, string>;
}
