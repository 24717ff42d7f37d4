import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** An application and the version of its state that was last announced. */
export type AnnouncedApplication = { id: string; version: number };

/** One page by id. */
export async function listAnnounced(
  db: Queryable,
  page: { after: string | null; limit: number },
): Promise<AnnouncedApplication[]> {
  return await db.query(
    named(
      'application_check_list',
      sql`
        select id, version
        from applications
        where ${page.after}::uuid is null or id > ${page.after}::uuid
        order by id
        limit ${page.limit}`,
    ),
  );
}

/** Applications by their ids, and all of an account by its id: their events have its key. */
export async function findAnnounced(
  db: Queryable,
  ids: readonly string[],
): Promise<AnnouncedApplication[]> {
  if (ids.length === 0) return [];
  return await db.query(
    named(
      'application_check_find',
      sql`
        select id, version
        from applications
        where id = any (${ids}::uuid[]) or account_id = any (${ids}::uuid[])`,
    ),
  );
}

/** Counts a version of each and queues its event. */
export async function announceAgain(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.query(
    named(
      'application_check_announce',
      sql`select announce_application(id) from unnest(${ids}::uuid[]) as late (id)`,
    ),
  );
}
