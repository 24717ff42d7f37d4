import assert from 'node:assert';

import {
  type DeadLetter,
  type Dismissal,
  IS_OPEN,
  markDismissed,
  markReplayed,
} from './dead-letters.ts';
import { requeue } from './outbox-queue.sql.ts';
import type { Database, Queryable, Transaction } from './pool.ts';
import { named, sql } from './sql.ts';
import { forgetCommand } from './unanswered-commands.ts';

/** A topic and a key whose events are held back. */
export type HeldKey = { topic: string; key: string };

export async function readHeldKeys(db: Queryable): Promise<HeldKey[]> {
  return await db.query<HeldKey>(
    named(
      'outbox_held_keys',
      sql`select distinct topic, key from dead_letters where consumer = 'outbox' and ${IS_OPEN}`,
    ),
  );
}

/**
 * Puts a parked event back into its place in the queue, before the later ones of its key. False where the letter is not
 * open any more.
 */
export async function replayParkedEvent(db: Database, letter: DeadLetter): Promise<boolean> {
  const eventId = eventIdOf(letter);
  return await db.transaction(async (tx) => {
    await waitForRelay(tx);
    if (!(await markReplayed(tx, letter.id))) return false;
    await requeue(tx, [{ place: letter.offset, eventId, isResend: false }]);
    return true;
  });
}

/**
 * Gives a parked event up: it is never published, also where it was queued once more, and the later ones of its key go
 * on. A command is not sent again either. False where the letter is not open any more.
 */
export async function dismissParkedEvent(
  db: Database,
  letter: DeadLetter,
  dismissal: Dismissal,
): Promise<boolean> {
  const eventId = eventIdOf(letter);
  return await db.transaction(async (tx) => {
    await waitForRelay(tx);
    if (!(await markDismissed(tx, letter.id, dismissal))) return false;
    await tx.query(
      named('outbox_forget_event', sql`delete from outbox where event_id = ${eventId}`),
    );
    await forgetCommand(tx, eventId);
    return true;
  });
}

/** No batch is under way meanwhile: it would put rows back that it has read, or send what was held before. */
async function waitForRelay(tx: Transaction): Promise<void> {
  await tx.query(
    named('outbox_wait_for_relay', sql`select from leases where name = 'outbox-relay' for update`),
  );
}

function eventIdOf({ headers }: DeadLetter): string {
  const eventId = headers['event_id'];
  assert(eventId, 'a parked event has its id');
  return eventId;
}
