import assert from 'node:assert';

import type {
  DeliveryAttempt,
  DeliveryStatus,
} from '@pixmesh/contracts/internal/operator-deliveries';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';

import { urlInUse } from './url-in-use.sql.ts';

/** Attempts of a delivery that are shown, the newest: who is sent to again and again has no bound. */
export const ATTEMPTS_SHOWN_MAX = 1_000;
/** Of those, whose answers are shown too. */
export const EXCERPTS_SHOWN_MAX = 32;
/**
 * A page ends behind the delivery that fills it. With the largest delivery on top, the answer stays below what a peer
 * takes (`ANSWER_BYTES_MAX` of its client).
 */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** Of an attempt beside its answer's excerpt. */
const ATTEMPT_BYTES = 512;

export type StoredAttempt = {
  number: number;
  startedAt: Date;
  durationMs: number;
  outcome: DeliveryAttempt['outcome'];
  status: number | null;
  error: string | null;
  responseExcerpt: string | null;
  address: string | null;
  manual: boolean;
};

export type StoredDelivery = {
  id: string;
  accountId: string;
  event: string;
  eventId: string;
  resourceId: string;
  /** Null for the resource's own URL. */
  endpointId: string | null;
  /** The URL in use: the one an endpoint has now; that of the resource where the delivery stands for it too. */
  url: string;
  status: DeliveryStatus;
  nextAttemptAt: Date | null;
  /** Of its event: the time inside the ids, by which lists are filtered and in whose order they come. */
  createdAt: Date;
  /** Oldest first. */
  attempts: StoredAttempt[];
  /** Whether those before it leave room for it in an answer. */
  fits: boolean;
};

/** What a statement of `describeDeliveries` finds. */
export async function readDescribed(
  db: Queryable,
  statement: Statement,
): Promise<StoredDelivery[]> {
  const rows = await db.query<JoinedRow>(statement);
  return [...Map.groupBy(rows, (row) => row.id).values()].map(toDelivery);
}

/**
 * Rows of `deliveries`, selected by `chosen`, newest first, with the URL in use, the next attempt and the attempts, up
 * to the bounds of an answer. One statement, so that a delivery's state and its attempts are of one moment.
 */
export function describeDeliveries(chosen: Statement): Statement {
  return sql`
      with page as materialized (${chosen}),
      described as (
        select
          page.id, page.account_id as "accountId", page.event, page.event_id as "eventId",
          page.resource_id as "resourceId", page.endpoint_id as "endpointId",
          ${urlInUse(sql`page`)} as url,
          page.status as "deliveryStatus",
          (select due_at from queue where queue.id = page.id) as "nextAttemptAt",
          coalesce(uuid_extract_timestamp(page.id), page.created_at)::timestamptz(3) as "createdAt"
        from page
      ),
      attempted as materialized (
        select
          described.*, attempt.number, attempt.started_at as "startedAt", attempt.duration_ms as "durationMs",
          attempt.outcome, attempt.status, attempt.error, attempt.response_excerpt as "responseExcerpt",
          attempt.address, attempt.manual,
          ${ATTEMPT_BYTES}::int + coalesce(octet_length(to_json(attempt.response_excerpt)::text), 0) as bytes
        from described
        left join lateral (
          select
            number, started_at, duration_ms, outcome, status, error, address, manual,
            case when number > made - ${EXCERPTS_SHOWN_MAX}::int then response_excerpt end as response_excerpt
          from (
            select
              (row_number() over (order by started_at, id))::int as number,
              (count(*) over ())::int as made,
              attempts.*
            from attempts
            where delivery_id = described.id
          ) as numbered
          where number > made - ${ATTEMPTS_SHOWN_MAX}::int
        ) as attempt on true
      )
      select
        attempted.*,
        coalesce(
          sum(bytes) over (order by id desc groups between unbounded preceding and 1 preceding), 0
        ) < ${PAGE_BYTES_MAX}::int as fits
      from attempted
      order by id desc, number`;
}

/** RFC 9562 section 5.10: behind every id. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** A delivery without attempts comes as one row whose attempt is empty. */
type JoinedRow = Omit<StoredDelivery, 'status' | 'attempts'> & {
  deliveryStatus: DeliveryStatus;
} & (StoredAttempt | { number: null });

function toDelivery(rows: readonly JoinedRow[]): StoredDelivery {
  const [row] = rows;
  assert(row, 'a group has at least one row');
  return {
    id: row.id,
    accountId: row.accountId,
    event: row.event,
    eventId: row.eventId,
    resourceId: row.resourceId,
    endpointId: row.endpointId,
    url: row.url,
    status: row.deliveryStatus,
    nextAttemptAt: row.nextAttemptAt,
    createdAt: row.createdAt,
    attempts: rows.filter((joined) => joined.number !== null),
    fits: row.fits,
  };
}
