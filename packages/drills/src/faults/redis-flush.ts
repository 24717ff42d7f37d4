import { askRedis } from '@pixmesh/local-stack/infra/ask-redis';

import type { Drill } from '../drill.ts';
import type { DrillMesh } from '../mesh/drill-mesh.ts';

/** It holds hints and counters, so that nothing is seen of it but that it is empty. */
export const redisFlush: Drill = {
  name: 'redis-flush',
  purpose: 'everything in Redis is deleted',
  alerts: [],
  cause: async (mesh) => {
    if ((await ask(mesh, ['FLUSHALL'])) !== 'OK') throw new Error('Redis did not answer');
  },
  effect: async () => undefined,
  end: async () => undefined,
  recovered: async (mesh, load) => {
    if ((await ask(mesh, ['PING'])) !== 'PONG') throw new Error('Redis does not answer');
    if (load.failures() > 0) throw new Error('a call failed');
  },
};

async function ask(mesh: DrillMesh, command: readonly string[]): Promise<string | undefined> {
  const { redis_url: url, redis_tls: tls } = mesh.stack();
  // Only the URL of tools is asked.
  const urls = { tools: url } as Parameters<typeof askRedis>[0]['urls'];
  return await askRedis({ urls, caFile: tls?.ca }, command);
}
