import pg from 'pg';

import type { Drill } from '../drill.ts';
import { outboxDrained, outboxOlderThan } from './outbox-age.ts';

let holder: pg.Client | undefined;

/** Somebody holds the lease of the relay of charges, as a process that stands still in its transaction does. */
export const outboxStuck: Drill = {
  name: 'outbox-stuck',
  purpose: 'the relay of charges gets no lease',
  alerts: ['OutboxStuck'],
  cause: async (mesh) => {
    holder = new pg.Client({ connectionString: mesh.stack().postgres_url });
    await holder.connect();
    await holder.query('begin');
    await holder.query("select from charges.leases where name = 'outbox-relay' for update");
  },
  effect: outboxOlderThan(10),
  // As `pg_terminate_backend` ends the session that holds it.
  end: async () => await holder?.end(),
  recovered: outboxDrained,
};
