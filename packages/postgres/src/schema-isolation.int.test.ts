import { createMeshDatabase } from '@pixmesh/testkit/test-database';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const SCHEMAS = [
  'gateway',
  'charges',
  'payouts',
  'ledger',
  'webhook_dispatcher',
  'acquirer_simulator',
];
/** SQLSTATE insufficient_privilege. */
const REFUSED = '42501';

type Table = { schema: string; name: string };

let database: Awaited<ReturnType<typeof createMeshDatabase>>;
let tables: Table[];

beforeAll(async () => {
  database = await createMeshDatabase('gateway');
  tables = await asUser(database.adminUrl, listTables);
});
afterAll(() => database[Symbol.asyncDispose]());

test('every schema of a service is among those that are tried', () => {
  expect([...new Set(tables.map(({ schema }) => schema))].sort()).toEqual([...SCHEMAS].sort());
});

describe.each(SCHEMAS)('the role of %s', (own) => {
  const url = () => {
    const parsed = new URL(database.url);
    parsed.username = `pixmesh_${own}`;
    return parsed.href;
  };

  test('reads its own tables, and neither reads nor changes one of another schema', async () => {
    const { others, mine } = await asUser(url(), async (client) => {
      const outcomes = [];
      for (const table of tables) outcomes.push({ ...table, ...(await tryTable(client, table)) });
      return {
        others: outcomes.filter(({ schema }) => schema !== own),
        mine: outcomes.filter(({ schema }) => schema === own),
      };
    });
    expect(others.length).toBeGreaterThan(20);
    expect(others.filter(({ read, written }) => read !== REFUSED || written !== REFUSED)).toEqual(
      [],
    );
    expect(mine.some(({ read }) => read === null)).toBe(true);
  });

  test('does not even see that another schema is there to use, and cannot become its role', async () => {
    await asUser(url(), async (client) => {
      for (const schema of SCHEMAS.filter((name) => name !== own)) {
        const { rows } = await client.query(
          `select has_schema_privilege($1, 'usage') or has_schema_privilege($1, 'create') as may`,
          [schema],
        );
        expect([schema, rows]).toEqual([schema, [{ may: false }]]);
        expect(await codeOf(client.query(`set role pixmesh_${schema}`))).toBe(REFUSED);
      }
    });
  });
});

async function asUser<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select table_schema as schema, table_name as name
    from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema', 'public')
    order by 1, 2`);
  return rows;
}

/** Tried and not looked up: the SQLSTATE of each try, null where it was allowed. Neither touches a row. */
async function tryTable(client: pg.Client, { schema, name }: Table) {
  const table = `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`;
  return {
    read: await codeOf(client.query(`select from ${table} limit 0`)),
    written: await codeOf(client.query(`delete from ${table} where false`)),
  };
}

async function codeOf(query: Promise<unknown>): Promise<string | null> {
  try {
    await query;
    return null;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}
