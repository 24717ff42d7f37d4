import type { DisputeId, OperatorId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { DisputeMessage } from './dispute-resource.ts';

/** The platform's words in the chat of a dispute, oldest first. */
export async function listMessages(db: Queryable, id: DisputeId): Promise<DisputeMessage[]> {
  const rows = await db.query<{ message: string; created_at: Date }>(
    named(
      'list_dispute_messages',
      sql`select message, created_at from dispute_messages where dispute_id = ${id} order by created_at, id`,
    ),
  );
  return rows.map((row) => ({ message: row.message, createdAt: row.created_at }));
}

export async function findMessage(
  db: Queryable,
  id: string,
): Promise<{ disputeId: DisputeId; message: string } | null> {
  const rows = await db.query<{ disputeId: DisputeId; message: string }>(
    named(
      'find_dispute_message',
      sql`select dispute_id as "disputeId", message from dispute_messages where id = ${id}`,
    ),
  );
  return rows[0] ?? null;
}

/** False when its id is taken. */
export async function insertMessage(
  db: Queryable,
  message: { id: string; disputeId: DisputeId; message: string; operatorId: OperatorId },
): Promise<boolean> {
  const rows = await db.query(
    named(
      'insert_dispute_message',
      sql`
        insert into dispute_messages (id, dispute_id, message, requested_by)
        values (${message.id}, ${message.disputeId}, ${message.message}, ${message.operatorId})
        on conflict (id) do nothing
        returning id`,
    ),
  );
  return rows.length === 1;
}
