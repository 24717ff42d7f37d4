import type { Drill } from '../drill.ts';
import { heldLocks } from './held-locks.ts';
import { outboxDrained, outboxOlderThan } from './outbox-age.ts';

/** Somebody holds the lease of the relay of charges, as a process that stands still in its transaction does. */
export const outboxStuck: Drill = {
  name: 'outbox-stuck',
  purpose: 'the relay of charges gets no lease',
  alerts: ['OutboxStuck'],
  ...heldLocks("select from charges.leases where name = 'outbox-relay' for update"),
  effect: outboxOlderThan(10),
  recovered: outboxDrained,
};
