import { createHash } from 'node:crypto';

/** What each user of Redis may do, by Redis's own rules (ACL); other names may do nothing. */
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

export const REDIS_USERS = Object.keys(RIGHTS) as RedisUser[];

/** The file of users; it holds digests, so who can read it can log in as none of them. */
export function renderRedisUsers(passwords: Readonly<Record<RedisUser, string>>): string {
  const lines = REDIS_USERS.map((user) => {
    const digest = createHash('sha256').update(passwords[user]).digest('hex');
    return `user ${user} on #${digest} resetkeys resetchannels -@all +ping ${RIGHTS[user]}`;
  });
  return ['user default off', ...lines, ''].join('\n');
}
