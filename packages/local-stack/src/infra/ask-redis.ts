import { readFileSync } from 'node:fs';
import { createClient } from 'redis';
import type { RedisAccess } from './redis-users.ts';

const CONNECT_LIMIT_MS = 1_000;

/** One command of a person or of the stack; undefined where Redis does not answer or refuses. */
export async function askRedis(
  { urls, caFile }: RedisAccess,
  command: readonly string[],
): Promise<string | undefined> {
  const socket = { connectTimeout: CONNECT_LIMIT_MS, reconnectStrategy: false as const };
  const client = createClient({
    url: urls.tools,
    socket:
      caFile === undefined ? socket : { ...socket, tls: true, ca: readFileSync(caFile, 'utf8') },
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const answer: unknown = await client.sendCommand(command);
    return typeof answer === 'string' ? answer : undefined;
  } catch {
    return undefined;
  } finally {
    client.destroy();
  }
}
