import type { Drill } from '../drill.ts';
import { outboxDrained, outboxOlderThan } from './outbox-age.ts';

/** Creations are answered all the same; events wait in the outbox. */
export const brokerLoss: Drill = {
  name: 'broker-loss',
  purpose: 'the broker is frozen',
  alerts: ['KafkaDown', 'OutboxStuck'],
  cause: async (mesh) => mesh.signal('kafka', 'SIGSTOP'),
  effect: outboxOlderThan(10),
  end: async (mesh) => mesh.signal('kafka', 'SIGCONT'),
  recovered: outboxDrained,
};
