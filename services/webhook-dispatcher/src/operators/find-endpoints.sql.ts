import type { EndpointId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { EndpointOwner } from '#endpoints/endpoint-row.ts';

type OwnerRecord = {
  account_id: EndpointOwner['accountId'];
  application_id: EndpointOwner['applicationId'];
};

/** Whose endpoint it is, for those who see every tenant's; null where there is none or it is deleted. */
export async function findOwner(db: Queryable, id: EndpointId): Promise<EndpointOwner | null> {
  const [row] = await db.query<OwnerRecord>(
    named(
      'endpoint_owner',
      sql`select account_id, application_id from endpoints where id = ${id} and deleted_at is null`,
    ),
  );
  return row === undefined ? null : toOwner(row);
}

/** An application by its id alone; null while it has no endpoint. Reads `endpoints_application`. */
export async function findOwnerOfApplication(
  db: Queryable,
  applicationId: string,
): Promise<EndpointOwner | null> {
  const [row] = await db.query<OwnerRecord>(
    named(
      'application_owner',
      sql`
        select account_id, application_id
        from endpoints
        where application_id = ${applicationId}
          and deleted_at is null
        limit 1`,
    ),
  );
  return row === undefined ? null : toOwner(row);
}

function toOwner(row: OwnerRecord): EndpointOwner {
  return { accountId: row.account_id, applicationId: row.application_id };
}
