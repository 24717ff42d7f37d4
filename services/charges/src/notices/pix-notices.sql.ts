import { endLease, leaseDue, type Urgency } from '@pixmesh/postgres/due-rows';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** A scrape must not cost more the more notices wait. */
const WAITING_READ_MAX = 10_000;

/** A Pix that was announced and no charge of ours explains; it proves nothing. */
export type PixNotice = {
  endToEndId: string;
  checks: number;
  checkTraceparent: string | null;
  leaseToken: string | null;
};

/** What a status check made of it. */
export type NoticeOutcome = 'suspended' | 'of_charge' | 'not_found' | 'foreign_key';

/**
 * Requests a check of Pix that no charge explains and the acquirer itself shows, before those that callbacks announce.
 * One that was found to have a foreign key is left alone, and one that was not there for `notFoundMs`. One that was
 * done begins anew.
 */
export async function noticePix(
  db: Queryable,
  endToEndIds: readonly string[],
  { notFoundMs }: { notFoundMs: number },
): Promise<void> {
  if (endToEndIds.length === 0) return;
  await db.query(
    named(
      'notice_pix',
      sql`
        insert into pix_notices (end_to_end_id, check_at)
        select distinct end_to_end_id, '-infinity'::timestamptz
        from unnest(${endToEndIds}::text[]) as listed (end_to_end_id)
        on conflict (end_to_end_id) do update
        set check_at = '-infinity',
            checks = case when pix_notices.done_at is null then pix_notices.checks else 0 end,
            noticed_at = case when pix_notices.done_at is null then pix_notices.noticed_at else now() end,
            outcome = null,
            done_at = null
        where pix_notices.outcome is distinct from 'foreign_key'
          and (
            pix_notices.outcome is distinct from 'not_found'
            or pix_notices.done_at < now() - ${notFoundMs}::float8 * interval '1 ms'
          )`,
    ),
  );
}

const NOTICES = {
  table: sql`pix_notices`,
  key: sql`end_to_end_id`,
  columns: sql`end_to_end_id, checks, check_traceparent, lease_token`,
};

/** Leases up to `limit` notices that are due, the oldest first. Reads `pix_notices_check_at`. */
export async function leaseDueNotices(
  db: Queryable,
  urgency: Urgency,
  options: { limit: number; leaseMs: number },
): Promise<PixNotice[]> {
  const statement = leaseDue(NOTICES, { ...options, urgency });
  const rows = await db.query<NoticeRecord>(named('lease_due_notices', statement));
  return rows.map((row) => ({
    endToEndId: row.end_to_end_id,
    checks: row.checks,
    checkTraceparent: row.check_traceparent,
    leaseToken: row.lease_token,
  }));
}

type NoticeRecord = {
  end_to_end_id: string;
  checks: number;
  check_traceparent: string | null;
  lease_token: string | null;
};

/** Ends a check that has to be repeated. */
export async function releaseNotice(
  db: Queryable,
  notice: PixNotice,
  nextInMs: number,
): Promise<void> {
  await db.query(
    named(
      'release_notice',
      sql`
        update pix_notices
        set ${endLease(nextInMs)}
        where end_to_end_id = ${notice.endToEndId} and lease_token = ${notice.leaseToken}`,
    ),
  );
}

/** Ends a notice for good, unless another check was requested meanwhile. */
export async function endNotice(
  db: Queryable,
  notice: PixNotice,
  outcome: NoticeOutcome,
): Promise<void> {
  await db.query(
    named(
      'end_notice',
      sql`
        update pix_notices
        set outcome = case when check_at = '-infinity' then null else ${outcome}::text end,
            done_at = case when check_at = '-infinity' then null else now() end,
            ${endLease(null)}
        where end_to_end_id = ${notice.endToEndId} and lease_token = ${notice.leaseToken}`,
    ),
  );
}

/** Deletes what was checked a while ago: anybody can announce anything. At most `limit` rows. */
export async function pruneNotices(
  db: Queryable,
  options: { olderThanMs: number; limit: number },
): Promise<number> {
  const rows = await db.query(
    named(
      'prune_notices',
      sql`
        delete from pix_notices
        where end_to_end_id in (
          select end_to_end_id
          from pix_notices
          where done_at < now() - ${options.olderThanMs}::float8 * interval '1 ms'
          order by done_at
          limit ${options.limit}
          for update skip locked
        )
        returning end_to_end_id`,
    ),
  );
  return rows.length;
}

/**
 * Seconds that the oldest announced Pix has waited for its check; 0 when none waits. Of those whose checks come first:
 * where more wait, one that was checked before may be older. Reads `pix_notices_check_at`.
 */
export async function oldestNoticeSeconds(db: Queryable): Promise<number> {
  const [row] = await db.query<{ age: number }>(
    named(
      'find_oldest_notice_age',
      sql`
        select coalesce(extract(epoch from now() - min(noticed_at)), 0)::float8 as age
        from (
          select noticed_at from pix_notices
          where check_at is not null
          order by check_at
          limit ${WAITING_READ_MAX}
        ) as waiting`,
    ),
  );
  return row?.age ?? 0;
}
