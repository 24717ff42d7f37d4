import { newId } from '@pixmesh/kernel/ids';

import type { Queryable } from './pool.ts';
import { named, sql } from './sql.ts';
import { RESEND_HEADER } from './unanswered-commands.ts';

/** A message as it came from the broker, enough to handle it again. */
export type RawMessage = {
  topic: string;
  partition: number;
  offset: bigint;
  key: string | null;
  headers: Record<string, string>;
  value: Buffer | null;
};

export type DeadLetter = RawMessage & {
  id: string;
  consumer: string;
  code: string;
  reason: string;
  createdAt: Date;
  replayedAt: Date | null;
};

const COLUMNS = sql`
  id, consumer, topic, partition, "offset", key, headers, value, code, reason, created_at as "createdAt",
  replayed_at as "replayedAt"`;

/** A cause is for people to read; what is longer only hides it. */
const REASON_LENGTH_MAX = 1_000;

/**
 * Parks a message with its cause. The same message parked again stays one row, open again; one that was sent again
 * while its first copy is parked adds none. The row takes any bytes: a message that could not even be parked would
 * hold up its partition for ever.
 */
export async function parkMessage(
  db: Queryable,
  consumer: string,
  letter: RawMessage & { code: string; reason: string },
): Promise<void> {
  await db.query(
    named(
      'dead_letter_park',
      sql`
        insert into dead_letters
          (id, consumer, topic, partition, "offset", key, headers, value, code, reason)
        select
          ${newId()}::uuid, ${consumer}, ${letter.topic}, ${letter.partition}::int, ${letter.offset}::bigint,
          ${letter.key === null ? null : storable(letter.key)}, ${JSON.stringify(letter.headers)}::json,
          ${letter.value}::bytea, ${letter.code}, ${storable(letter.reason).slice(0, REASON_LENGTH_MAX)}
        where not (
          ${letter.headers[RESEND_HEADER] !== undefined}::boolean and exists (
            select from dead_letters
            where replayed_at is null
              and consumer = ${consumer} and topic = ${letter.topic} and value = ${letter.value}::bytea
          )
        )
        on conflict (consumer, topic, partition, "offset", coalesce(sha256(value), '')) do update
        set code = excluded.code, reason = excluded.reason, replayed_at = null`,
    ),
  );
}

/** Open letters, newest first, after the letter with id `startingAfter`. Reads `dead_letters_open`. */
export async function listDeadLetters(
  db: Queryable,
  page: { limit: number; startingAfter: string | null },
): Promise<DeadLetter[]> {
  return await db.query<DeadLetter>(
    named(
      'dead_letter_list',
      sql`
        select ${COLUMNS}
        from dead_letters
        where replayed_at is null and (${page.startingAfter}::uuid is null or id < ${page.startingAfter}::uuid)
        order by id desc
        limit ${page.limit}`,
    ),
  );
}

export async function findDeadLetter(db: Queryable, id: string): Promise<DeadLetter | null> {
  const rows = await db.query<DeadLetter>(
    named('dead_letter_find', sql`select ${COLUMNS} from dead_letters where id = ${id}`),
  );
  return rows[0] ?? null;
}

export async function markReplayed(db: Queryable, id: string): Promise<void> {
  await db.query(
    named(
      'dead_letter_replayed',
      sql`update dead_letters set replayed_at = now() where id = ${id}`,
    ),
  );
}

/** Postgres stores no NUL in text. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
