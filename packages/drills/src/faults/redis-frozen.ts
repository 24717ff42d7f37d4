import type { Drill } from '../drill.ts';
import type { DrillMesh } from '../mesh/drill-mesh.ts';

/** Each gateway counts by itself, and no call fails for it. */
export const redisFrozen: Drill = {
  name: 'redis-frozen',
  purpose: 'Redis does not answer',
  alerts: ['RedisDown'],
  cause: async (mesh) => mesh.signal('redis', 'SIGSTOP'),
  effect: async (mesh) => {
    if ((await isUp(mesh)) > 0) throw new Error('the gateway gets answers');
  },
  end: async (mesh) => mesh.signal('redis', 'SIGCONT'),
  recovered: async (mesh, load) => {
    if ((await isUp(mesh)) === 0) throw new Error('the gateway gets no answer');
    if (load.failures() > 0) throw new Error('a call failed');
  },
};

async function isUp(mesh: DrillMesh): Promise<number> {
  return await mesh.metric('gateway', 'redis_up');
}
