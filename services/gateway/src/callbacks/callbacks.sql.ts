import { appendEvents, type OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/**
 * Stores a body and queues its items in one statement: either all of it is durable, or the acquirer gets no
 * 2xx and sends again. Repeats are stored again; consumers know an item by its ids (decision 214).
 */
export async function storeCallback(
  db: Queryable,
  callback: {
    id: string;
    body: Buffer;
    sha256: Buffer | null;
    parsed: boolean;
    skipped: number;
    receivedAt: Date;
  },
  events: readonly OutboundEvent[],
): Promise<void> {
  await db.query(
    named(
      'callback_store',
      sql`
        with stored as (
          insert into callbacks (id, body, sha256, parsed, items, items_skipped, received_at)
          values (
            ${callback.id}, ${callback.body}, ${callback.sha256}, ${callback.parsed},
            ${events.length}, ${callback.skipped}, ${callback.receivedAt}
          )
          returning id
        ),
        ${appendEvents(sql`select from stored`, events)}
        select from stored`,
    ),
  );
}
