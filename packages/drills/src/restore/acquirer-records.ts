import { chownSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

import { query } from '../mesh/drill-mesh.ts';

const SCHEMA = 'acquirer_simulator';
const FOLDER = 'acquirer-records';

type Table = { name: string; columns: string; sequences: string[] };

/**
 * A real acquirer is no part of the installation and knows nothing of its restore. The simulator keeps its records in the same
 * Postgres, so they are taken out of the old one and put into the restored one, where they replace what was restored.
 * `beside`: the folder that holds the data folder; the server itself reads and writes the files.
 */
export async function takeRecordsOut(url: string, beside: string): Promise<void> {
  const folder = path.join(beside, FOLDER);
  mkdirSync(folder, { recursive: true });
  const { uid, gid } = statSync(beside);
  chownSync(folder, uid, gid);
  for (const { name, columns } of await listTables(url)) {
    await query(url, `copy ${SCHEMA}.${name} (${columns}) to '${folder}/${name}'`);
  }
}

export async function putRecordsIn(url: string, beside: string): Promise<void> {
  const tables = await listTables(url);
  const names = tables.map(({ name }) => `${SCHEMA}.${name}`).join(', ');
  const statements = tables.flatMap(({ name, columns, sequences }) => [
    `copy ${SCHEMA}.${name} (${columns}) from '${beside}/${FOLDER}/${name}'`,
    ...sequences.map(
      (column) =>
        `select setval(pg_get_serial_sequence('${SCHEMA}.${name}', '${column}'), coalesce(max(${column}), 0) + 1, false) from ${SCHEMA}.${name}`,
    ),
  ]);
  // Rows refer to each other in an order that only the acquirer knows.
  const all = ['set session_replication_role = replica', `truncate ${names}`, ...statements];
  await query(url, all.join('; '));
}

async function listTables(url: string): Promise<Table[]> {
  return await query<Table>(
    url,
    `select table_name as name,
      string_agg(quote_ident(column_name), ', ' order by ordinal_position)
        filter (where is_generated = 'NEVER') as columns,
      coalesce(array_agg(column_name::text) filter (where is_identity = 'YES'), '{}') as sequences
    from information_schema.columns
    join information_schema.tables using (table_schema, table_name)
    where table_schema = '${SCHEMA}' and table_type = 'BASE TABLE' and table_name <> 'migrations'
    group by table_name`,
  );
}
