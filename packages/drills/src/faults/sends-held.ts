import pg from 'pg';

import type { Drill } from '../drill.ts';
import { payoutsAtRest } from './payouts-at-rest.ts';

let holder: pg.Client | undefined;

/** Payouts are accepted, and wait with their money held. */
export const sendsHeld: Drill = {
  name: 'sends-held',
  purpose: 'a session holds the slots of all sends',
  alerts: ['PayoutsOverdue'],
  cause: async (mesh) => {
    holder = new pg.Client({ connectionString: mesh.stack().postgres_url });
    await holder.connect();
    await holder.query('begin');
    await holder.query('select from payouts.send_slots for update');
  },
  effect: async (mesh) => {
    if ((await mesh.metric('payouts', 'payouts_unsent')) === 0) throw new Error('none is overdue');
  },
  // As `pg_terminate_backend` ends the session that holds them.
  end: async () => await holder?.end(),
  recovered: async (mesh) => {
    if ((await mesh.metric('payouts', 'payouts_unsent')) > 0) throw new Error('some are overdue');
    await payoutsAtRest(mesh);
  },
};
