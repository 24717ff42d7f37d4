import type { PayoutId } from '@pixmesh/kernel/ids';
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

/** A slot that is leased, and by which token. */
export type LeasedSlot = { slot: number; slotToken: string };

/** Releases slots, but for those whose lease has ended and that another call has. */
export async function releaseSlots(db: Queryable, leased: readonly LeasedSlot[]): Promise<void> {
  await db.query(
    named(
      'send_slots_release',
      sql`
        update send_slots
        set lease_token = null, lease_until = null
        from unnest(
          ${leased.map(({ slot }) => slot)}::int[],
          ${leased.map(({ slotToken }) => slotToken)}::uuid[]
        ) as held (held_slot, held_token)
        where slot = held_slot and lease_token = held_token`,
    ),
  );
}

/**
 * Leases a slot on after its call, for the payout of that call: claims take it when what became of the payout is
 * known, or after `waitMs`. Not where the lease has ended and another call has the slot.
 */
export async function letSlotWait(
  db: Queryable,
  { slot, slotToken }: LeasedSlot,
  { payoutId, waitMs }: { payoutId: PayoutId; waitMs: number },
): Promise<void> {
  await db.query(
    named(
      'send_slots_wait',
      sql`
        update send_slots
        set lease_token = null, lease_until = now() + ${waitMs}::int * interval '1 ms', waits_for = ${payoutId}
        where slot = ${slot} and lease_token = ${slotToken}`,
    ),
  );
}
