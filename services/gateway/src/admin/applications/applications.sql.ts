import type { AccountId, ApplicationId } from '@pixmesh/kernel/ids';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

export type Application = {
  id: ApplicationId;
  accountId: AccountId;
  name: string;
  active: boolean;
  fingerprint: Buffer;
  createdAt: Date;
};

const COLUMNS = sql`id, account_id, name, active, fingerprint, created_at`;

export async function findApplication(
  db: Queryable,
  id: ApplicationId,
): Promise<Application | null> {
  const rows = await db.query<ApplicationRow>(
    named('application_find', sql`select ${COLUMNS} from applications where id = ${id}`),
  );
  return rows[0] ? toApplication(rows[0]) : null;
}

export async function lockApplication(
  tx: Transaction,
  id: ApplicationId,
): Promise<Application | null> {
  const rows = await tx.query<ApplicationRow>(
    named('application_lock', sql`select ${COLUMNS} from applications where id = ${id} for update`),
  );
  return rows[0] ? toApplication(rows[0]) : null;
}

/** Null when the id is taken: then the same `Idempotency-Key` has made it before. */
export async function insertApplication(
  tx: Transaction,
  application: Omit<Application, 'createdAt'>,
): Promise<Application | null> {
  const rows = await tx.query<ApplicationRow>(
    named(
      'application_insert',
      sql`
        insert into applications (id, account_id, name, active, fingerprint)
        values (
          ${application.id}, ${application.accountId}, ${application.name}, ${application.active},
          ${application.fingerprint}
        )
        on conflict on constraint applications_pkey do nothing
        returning ${COLUMNS}`,
    ),
  );
  return rows[0] ? toApplication(rows[0]) : null;
}

export async function updateApplication(tx: Transaction, application: Application): Promise<void> {
  await tx.query(
    named(
      'application_update',
      sql`
        update applications
        set name = ${application.name}, active = ${application.active}
        where id = ${application.id}`,
    ),
  );
}

/** Newest first within one account; reads `applications_newest`. */
export async function listApplications(
  db: Queryable,
  accountId: AccountId,
  page: { limit: number; startingAfter: string | null; active: boolean | null },
): Promise<Application[]> {
  const rows = await db.query<ApplicationRow>(
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
          and (${page.active}::boolean is null or active = ${page.active})
        order by created_at desc, id desc
        limit ${page.limit}`,
    ),
  );
  return rows.map(toApplication);
}

type ApplicationRow = {
  id: ApplicationId;
  account_id: AccountId;
  name: string;
  active: boolean;
  fingerprint: Buffer;
  created_at: Date;
};

function toApplication(row: ApplicationRow): Application {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    active: row.active,
    fingerprint: row.fingerprint,
    createdAt: row.created_at,
  };
}
