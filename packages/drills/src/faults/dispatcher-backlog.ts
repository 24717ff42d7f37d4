import type { Drill } from '../drill.ts';
import { webhooksAtRest } from './at-rest.ts';

const BACKLOG = 20;

/** Events wait at the broker, deliveries in the queue. */
export const dispatcherBacklog: Drill = {
  name: 'dispatcher-backlog',
  purpose: 'the dispatcher is frozen',
  alerts: ['DispatcherApiDown', 'IntakeDown', 'SenderDown', 'ConsumerLagging'],
  cause: async (mesh) => mesh.signal('webhook-dispatcher', 'SIGSTOP'),
  effect: async (_mesh, load) => {
    const { length } = await load.undelivered();
    if (length < BACKLOG) throw new Error(`${length} webhooks are missing`);
  },
  end: async (mesh) => mesh.signal('webhook-dispatcher', 'SIGCONT'),
  recovered: webhooksAtRest,
};
