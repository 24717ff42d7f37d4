import { setTimeout as delay } from 'node:timers/promises';

import { queryOnce } from './durable-server.ts';

/** Statistics of tables are written by sessions that end or idle for a second. */
const STATISTICS_DELAY_MS = 2_000;

/** Bytes of all tables of a schema with their indexes, dead rows removed. */
export async function readSchemaBytes(url: string, schema: string): Promise<number> {
  await queryOnce(url, 'vacuum');
  const [row] = await queryOnce<{ bytes: string }>(
    url,
    `select sum(pg_total_relation_size(oid)) as bytes from pg_class
     where relnamespace = $1::regnamespace and relkind = 'r'`,
    [schema],
  );
  return Number(row?.bytes);
}

/** Share of a table's updates that touched no index. */
export async function readHotShare(url: string, schema: string, table: string): Promise<number> {
  await delay(STATISTICS_DELAY_MS);
  const [row] = await queryOnce<{ share: number }>(
    url,
    `select n_tup_hot_upd::float8 / nullif(n_tup_upd, 0) as share
     from pg_stat_user_tables where schemaname = $1 and relname = $2`,
    [schema, table],
  );
  return row?.share ?? Number.NaN;
}
