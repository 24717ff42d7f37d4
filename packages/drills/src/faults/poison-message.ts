import type { Drill } from '../drill.ts';
import { type DrillMesh, type Json, succeeded } from '../mesh/drill-mesh.ts';
import { actAs, createOperator } from '../mesh/operators.ts';

/** An event of a charge that its schema refuses, as a bug of the service would write it. */
const WRITE_MISFIT = `
  with misfit as (
    insert into charges.events (event_id, topic, key, type, sequence, headers, message, traceparent)
    select uuidv7(), topic, gen_random_uuid()::text, type, null, headers, '{"poison": true}', null
    from charges.events
    where type = 'charge.pix.created'
    limit 1
    returning event_id
  )
  insert into charges.outbox (event_id) select event_id from misfit`;

/** It is parked, and holds back nothing but its own key; an operator dismisses it. */
export const poisonMessage: Drill = {
  name: 'poison-message',
  purpose: 'an event that its schema refuses is queued',
  alerts: ['DeadLettersWaiting'],
  cause: async (mesh) => void (await mesh.query(WRITE_MISFIT)),
  effect: async (mesh) => {
    if ((await readLetters(mesh)).length === 0) throw new Error('there is no dead letter');
  },
  end: async (mesh) => {
    const operator = await createOperator(mesh, 'Ana');
    for (const { service, id } of await readLetters(mesh)) {
      const route = `POST /admin/dead-letters/${String(service)}/${String(id)}/dismiss`;
      await actAs(mesh, operator, { route, body: { reason: 'planted by a drill' } });
    }
    // It belongs to no charge: left there, it would differ from the books for ever.
    await mesh.query(`delete from charges.events where message::jsonb = '{"poison": true}'`);
  },
  recovered: async (mesh) => {
    if ((await readLetters(mesh)).length > 0) throw new Error('a dead letter is open');
  },
};

async function readLetters(mesh: DrillMesh): Promise<Json[]> {
  const route = 'GET /admin/dead-letters?status=open';
  return succeeded(route, await mesh.admin({ route })).body['data'] as Json[];
}
