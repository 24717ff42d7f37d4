import type { Drill } from '../drill.ts';

const BACKLOG = 20;
const AT_REST = 3;

/** Events wait at the broker, deliveries in the queue. */
export const dispatcherBacklog: Drill = {
  name: 'dispatcher-backlog',
  purpose: 'the dispatcher is frozen',
  alerts: ['IntakeDown', 'SenderDown', 'ConsumerLagging'],
  cause: async (mesh) => mesh.signal('webhook-dispatcher', 'SIGSTOP'),
  effect: async (_mesh, load) => {
    const { length } = await load.undelivered();
    if (length < BACKLOG) throw new Error(`${length} webhooks are missing`);
  },
  end: async (mesh) => mesh.signal('webhook-dispatcher', 'SIGCONT'),
  recovered: async (_mesh, load) => {
    const { length } = await load.undelivered();
    if (length > AT_REST) throw new Error(`${length} webhooks are missing`);
  },
};
