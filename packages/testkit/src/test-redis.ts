import { readFileSync } from 'node:fs';

import type { RedisUser } from '@pixmesh/contracts/internal/redis-rights';
import { createClient } from 'redis';

import { testInfra } from './test-infra.ts';

/** Redis as one of its users reaches it; `port` leads through a proxy. */
export function testRedis(user: RedisUser, port?: number): { url: string; ca: string | undefined } {
  const { caFile, urls } = testInfra().redis;
  const url = new URL(urls[user]);
  if (port !== undefined) url.port = String(port);
  return { url: url.href, ca: caFile && readFileSync(caFile, 'utf8') };
}

/** The same as a service is given it. */
export function testRedisVariables(user: RedisUser, port?: number): Record<string, string> {
  const { url, ca } = testRedis(user, port);
  return { REDIS_URL: url, ...(ca === undefined ? {} : { REDIS_TLS_CA: ca }) };
}

/** A connection that may do everything. */
export async function connectTestRedis() {
  const { url, ca } = testRedis('tools');
  return await createClient({ url, ...(ca && { socket: { tls: true, ca } }) }).connect();
}
