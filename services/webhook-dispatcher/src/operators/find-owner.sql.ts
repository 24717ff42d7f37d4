import type { EndpointId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { EndpointOwner } from '#endpoints/endpoint-row.ts';

const OWNER = sql`account_id as "accountId", application_id as "applicationId"`;

/** Whose endpoint it is, for those who see every tenant's; null where there is none or it is deleted. */
export async function findOwner(db: Queryable, id: EndpointId): Promise<EndpointOwner | null> {
  const [row] = await db.query<EndpointOwner>(
    named(
      'endpoint_owner',
      sql`select ${OWNER} from endpoints where id = ${id} and deleted_at is null`,
    ),
  );
  return row ?? null;
}

/** An application by its id alone; null while it has no endpoint. Reads `endpoints_application`. */
export async function findOwnerOfApplication(
  db: Queryable,
  applicationId: string,
): Promise<EndpointOwner | null> {
  const [row] = await db.query<EndpointOwner>(
    named(
      'application_owner',
      sql`
        select ${OWNER}
        from endpoints
        where application_id = ${applicationId}
          and deleted_at is null
        limit 1`,
    ),
  );
  return row ?? null;
}
