import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** Makes sure that the slots exist. Slots above the configured number rest; they are never deleted. */
export async function ensureSlots(db: Queryable, slots: number): Promise<void> {
  await db.query(
    named(
      'send_slots_ensure',
      sql`
        insert into send_slots (slot)
        select generate_series(1, ${slots}::int)
        on conflict (slot) do nothing`,
    ),
  );
}

/** Releases a slot, unless its lease has ended and another call has it. */
export async function releaseSlot(
  db: Queryable,
  held: { slot: number; slotToken: string },
): Promise<void> {
  await db.query(
    named(
      'send_slot_release',
      sql`
        update send_slots
        set lease_token = null, lease_until = null
        where slot = ${held.slot} and lease_token = ${held.slotToken}`,
    ),
  );
}
