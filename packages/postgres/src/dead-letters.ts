import { newId } from '@pixmesh/kernel/ids';

import { RESEND_HEADER } from './events.ts';
import type { Queryable, Transaction } from './pool.ts';
import { named, sql } from './sql.ts';

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
  dismissedAt: Date | null;
  dismissedBy: string | null;
  dismissedReason: string | null;
};

const COLUMNS = sql`
  id, consumer, topic, partition, "offset", key, headers, value, code, reason, created_at as "createdAt",
  replayed_at as "replayedAt", dismissed_at as "dismissedAt", dismissed_by as "dismissedBy",
  dismissed_reason as "dismissedReason"`;

/** What waits for an operator. Implied by it: the condition of the partial indexes. */
export const IS_OPEN = sql`replayed_at is null and dismissed_at is null`;

/** A cause is for people to read; what is longer only hides it. */
const REASON_LENGTH_MAX = 1_000;

/**
 * Parks a message with its cause. The same message parked again stays one row, open again unless it was dismissed; one
 * that was sent again while its first copy is parked or dismissed adds none. The row takes any bytes: a message that
 * could not even be parked would hold up its partition for ever.
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

/** Open ones, unless asked otherwise; other absent filters match everything. */
type LetterFilters = {
  status?: 'open' | 'replayed' | 'dismissed';
  consumer?: string | undefined;
  topic?: string | undefined;
  key?: string | undefined;
  code?: string | undefined;
};

export type LettersPage = LetterFilters & { limit: number; startingAfter: string | null };

const STATUSES = {
  open: IS_OPEN,
  replayed: sql`replayed_at is not null and dismissed_at is null`,
  dismissed: sql`dismissed_at is not null`,
};

/** Letters newest first, after the letter with id `startingAfter`. Open ones read `dead_letters_open`. */
export async function listDeadLetters(db: Queryable, page: LettersPage): Promise<DeadLetter[]> {
  const { status = 'open', consumer = null, topic = null, key = null, code = null } = page;
  return await db.query<DeadLetter>(
    named(
      `dead_letter_list_${status}`,
      sql`
        select ${COLUMNS}
        from dead_letters
        where ${STATUSES[status]}
          and (${page.startingAfter}::uuid is null or id < ${page.startingAfter}::uuid)
          and consumer = coalesce(${consumer}, consumer)
          and topic = coalesce(${topic}, topic)
          and (${key}::text is null or key = ${key})
          and code = coalesce(${code}, code)
        order by id desc
        limit ${page.limit}`,
    ),
  );
}

/** A count beyond this only says: many. */
const OPEN_LETTERS_COUNTED_MAX = 1_000;

/** Open letters, up to a bound. Reads `dead_letters_open`. */
export async function countOpenLetters(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    named(
      'dead_letter_count',
      sql`
        select count(*)::int as count
        from (select from dead_letters where ${IS_OPEN} limit ${OPEN_LETTERS_COUNTED_MAX}) as open`,
    ),
  );
  return row?.count ?? 0;
}

export async function findDeadLetter(db: Queryable, id: string): Promise<DeadLetter | null> {
  const rows = await db.query<DeadLetter>(
    named('dead_letter_find', sql`select ${COLUMNS} from dead_letters where id = ${id}`),
  );
  return rows[0] ?? null;
}

/** Ends an open letter. False where it is not open any more. */
export async function markReplayed(db: Queryable, id: string): Promise<boolean> {
  const rows = await db.query(
    named(
      'dead_letter_replayed',
      sql`update dead_letters set replayed_at = now() where id = ${id} and ${IS_OPEN} returning id`,
    ),
  );
  return rows.length === 1;
}

/**
 * Keeps others from replaying or dismissing an open letter for as long as the transaction lasts; null where it is none.
 */
export async function lockOpenLetter(tx: Transaction, id: string): Promise<DeadLetter | null> {
  const rows = await tx.query<DeadLetter>(
    named(
      'dead_letter_lock',
      sql`select ${COLUMNS} from dead_letters where id = ${id} and ${IS_OPEN} for update`,
    ),
  );
  return rows[0] ?? null;
}

/** Who gives a letter up, and why. */
export type Dismissal = { operatorId: string; reason: string };

/** Gives an open letter up, for ever. False where it is not open any more. */
export async function markDismissed(
  db: Queryable,
  id: string,
  { operatorId, reason }: Dismissal,
): Promise<boolean> {
  const rows = await db.query(
    named(
      'dead_letter_dismissed',
      sql`
        update dead_letters
        set dismissed_at = now(), dismissed_by = ${operatorId}, dismissed_reason = ${reason}
        where id = ${id} and ${IS_OPEN}
        returning id`,
    ),
  );
  return rows.length === 1;
}

/** Postgres stores no NUL in text. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
