import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** A request as it came. `path` holds the query too, so that nothing of the URL is lost. */
export type NewRequest = {
  method: string;
  host: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  receivedAt: Date;
  /** Null where no answer was given. */
  answeredStatus: number | null;
};

export type ReceivedRequest = NewRequest & { sequence: number };

/** Stores a batch in one statement, numbered in its order; answers the last number. */
export async function insertRequests(
  db: Queryable,
  requests: readonly NewRequest[],
): Promise<number> {
  const rows = await db.query<{ sequence: bigint }>(
    named(
      'receiver_requests_insert',
      sql`
        insert into receiver_requests (
          method, host, path, headers, body, received_at, answered_status
        )
        select method, host, path, headers, body, received_at, answered_status
        from unnest(
          ${requests.map(({ method }) => method)}::text[],
          ${requests.map(({ host }) => host)}::text[],
          ${requests.map(({ path }) => path)}::text[],
          ${requests.map(({ headers }) => JSON.stringify(headers))}::jsonb[],
          ${requests.map(({ body }) => body)}::bytea[],
          ${requests.map(({ receivedAt }) => receivedAt)}::timestamptz[],
          ${requests.map(({ answeredStatus }) => answeredStatus)}::integer[]
        ) with ordinality as request (
          method, host, path, headers, body, received_at, answered_status, number
        )
        order by number
        returning sequence`,
    ),
  );
  return Math.max(0, ...rows.map(({ sequence }) => Number(sequence)));
}

/** Requests after a number, oldest first, and one more than asked for where there are more. */
export async function listRequests(
  db: Queryable,
  page: { path: string | null; after: number; limit: number },
): Promise<ReceivedRequest[]> {
  const rows = await db.query<NewRequest & { sequence: bigint }>(
    named(
      'receiver_requests_list',
      sql`
        select
          sequence, method, host, path, headers, body, received_at as "receivedAt",
          answered_status as "answeredStatus"
        from receiver_requests
        where sequence > ${page.after}::bigint
          and (${page.path}::text is null or ${page.path} in (path, split_part(path, '?', 1)))
        order by sequence
        limit ${page.limit + 1}::int`,
    ),
  );
  return rows.map((row) => ({ ...row, sequence: Number(row.sequence) }));
}

/** Forgets requests up to a number, of one path or of all. */
export async function deleteRequests(
  db: Queryable,
  what: { path: string | null; upTo: number },
): Promise<void> {
  await db.query(
    named(
      'receiver_requests_delete',
      sql`
        delete from receiver_requests
        where sequence <= ${what.upTo}::bigint
          and (${what.path}::text is null or ${what.path} in (path, split_part(path, '?', 1)))`,
    ),
  );
}
