import { withClient } from './durable-server.ts';

/** Statistics of tables are written by sessions that end or idle for a second. */
const STATISTICS_DELAY_SECONDS = 2;

/** Bytes of all tables of a schema with their indexes, dead rows removed. */
export async function readSchemaBytes(url: string, schema: string): Promise<number> {
  return await withClient(url, async (client) => {
    await client.query('vacuum');
    const { rows } = await client.query<{ bytes: string }>(
      `select sum(pg_total_relation_size(oid)) as bytes from pg_class
       where relnamespace = $1::regnamespace and relkind = 'r'`,
      [schema],
    );
    return Number(rows[0]?.bytes);
  });
}

/** Share of a table's updates that touched no index. */
export async function readHotShare(url: string, schema: string, table: string): Promise<number> {
  return await withClient(url, async (client) => {
    await client.query('select pg_sleep($1)', [STATISTICS_DELAY_SECONDS]);
    const { rows } = await client.query<{ share: number }>(
      `select n_tup_hot_upd::float8 / nullif(n_tup_upd, 0) as share
       from pg_stat_user_tables where schemaname = $1 and relname = $2`,
      [schema, table],
    );
    return rows[0]?.share ?? Number.NaN;
  });
}
