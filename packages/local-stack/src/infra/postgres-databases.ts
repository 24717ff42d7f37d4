import { handOver } from '@pixmesh/postgres/owner-role';
import pg from 'pg';
import { identityPaths } from './identities.ts';

/** The mesh's database, and the registry's own. */
export const MESH_DATABASE = 'pixmesh';
export const REGISTRY_DATABASE = 'registry';

const DUPLICATE_DATABASE = '42P04';

/** Creates the databases that are missing; safe to repeat and to race. */
export async function createDatabases(url: string, names: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>('select datname from pg_database');
    const present = new Set(rows.map((row) => row.datname));
    for (const name of names) {
      if (!present.has(name)) await createDatabase(client, name);
    }
  } finally {
    await client.end();
  }
}

/** Gives the registry a role of its own, which owns its database and reaches nothing else. */
export async function prepareRegistryDatabase(url: string, password: string): Promise<string> {
  const adminUrl = withDatabase(url, REGISTRY_DATABASE);
  const role = REGISTRY_DATABASE;
  await handOver({ adminUrl, role, password, schemas: ['public'] });
  return withUser(adminUrl, { role, password });
}

/** The same database, as another role. */
export function withUser(
  url: string,
  { role, password }: { role: string; password: string },
): string {
  const changed = new URL(url);
  changed.username = role;
  changed.password = password;
  return changed.href;
}

/** The same server and user, another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

/** The same database over TLS; the server has to prove its name by a certificate of the home's authority. */
export function withVerifiedTls(url: string, home: string): string {
  const changed = new URL(url);
  changed.searchParams.set('sslmode', 'verify-full');
  changed.searchParams.set('sslrootcert', identityPaths(home, 'tools').ca);
  return changed.href;
}

async function createDatabase(client: pg.Client, name: string): Promise<void> {
  try {
    await client.query(`create database ${client.escapeIdentifier(name)}`);
  } catch (error) {
    if ((error as { code?: string }).code !== DUPLICATE_DATABASE) throw error;
  }
}
