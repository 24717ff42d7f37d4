import { sql, type Statement } from '@pixmesh/postgres/sql';

/**
 * The URL to which a delivery goes now: that of its resource where it is for that URL, else the one its endpoint has.
 * Reads primary keys. `delivery` names a row with the columns `resource_id`, `endpoint_id` and `for_resource_url`.
 */
export function urlInUse(delivery: Statement): Statement {
  return sql`coalesce(
            (
              select url
              from destinations
              where destinations.resource_id = ${delivery}.resource_id
                and (${delivery}.endpoint_id is null or ${delivery}.for_resource_url)
            ),
            (select url from endpoints where endpoints.id = ${delivery}.endpoint_id)
          )`;
}
