import type { ListApplicationsQuery } from '@pixmesh/contracts/admin/admin-queries';
import type { PageFor } from '@pixmesh/http/list-page';
import type { AccountId, ApplicationId } from '@pixmesh/kernel/ids';
import { appendEvents, type OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

export type Application = {
  id: ApplicationId;
  accountId: AccountId;
  name: string;
  active: boolean;
  /** Counts its creation and each change of `active`, and nothing else: the version that events carry. */
  version: number;
  fingerprint: Buffer;
  createdAt: Date;
};

const COLUMNS = sql`
  id, account_id as "accountId", name, active, version, fingerprint, created_at as "createdAt"`;

export async function findApplication(
  db: Queryable,
  id: ApplicationId,
): Promise<Application | null> {
  const rows = await db.query<Application>(
    named('application_find', sql`select ${COLUMNS} from applications where id = ${id}`),
  );
  return rows[0] ?? null;
}

export async function lockApplication(
  tx: Transaction,
  id: ApplicationId,
): Promise<Application | null> {
  const rows = await tx.query<Application>(
    named('application_lock', sql`select ${COLUMNS} from applications where id = ${id} for update`),
  );
  return rows[0] ?? null;
}

/** With its event. Null when the id is taken: then the same `Idempotency-Key` has made and announced it before. */
export async function insertApplication(
  tx: Transaction,
  application: Omit<Application, 'createdAt'>,
  event: OutboundEvent,
): Promise<Application | null> {
  const rows = await tx.query<Application>(
    named(
      'application_insert',
      sql`
        with inserted as (
          insert into applications (id, account_id, name, active, version, fingerprint)
          values (
            ${application.id}, ${application.accountId}, ${application.name}, ${application.active},
            ${application.version}, ${application.fingerprint}
          )
          on conflict on constraint applications_pkey do nothing
          returning *
        ),
        ${appendEvents(sql`select from inserted`, [event])}
        select ${COLUMNS} from inserted`,
    ),
  );
  return rows[0] ?? null;
}

/** Writes an application that `lockApplication` holds, with the events that its change makes. */
export async function updateApplication(
  tx: Transaction,
  application: Application,
  events: readonly OutboundEvent[],
): Promise<void> {
  await tx.query(
    named(
      'application_update',
      sql`
        with updated as (
          update applications
          set name = ${application.name}, active = ${application.active}, version = ${application.version}
          where id = ${application.id}
          returning id
        ),
        ${appendEvents(sql`select from updated`, events)}
        select from updated`,
    ),
  );
}

/** Newest first within one account; reads `applications_newest`. */
export async function listApplications(
  db: Queryable,
  accountId: AccountId,
  page: PageFor<typeof ListApplicationsQuery>,
): Promise<Application[]> {
  return await db.query<Application>(
    named(
      'application_list',
      sql`
        select ${COLUMNS}
        from applications
        where account_id = ${accountId}
          and (${page.startingAfter}::uuid is null or (created_at, id) < (
            select created_at, id
            from applications
            where id = ${page.startingAfter}::uuid and account_id = ${accountId}
          ))
          and (${page.filters.active}::boolean is null or active = ${page.filters.active})
        order by created_at desc, id desc
        limit ${page.limit}`,
    ),
  );
}
