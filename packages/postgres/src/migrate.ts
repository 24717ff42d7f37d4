import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { runner } from 'node-pg-migrate';
import pg from 'pg';

import { repeat } from './repeat.ts';
import { scramVerifier } from './scram-verifier.ts';

/** Tables of this package that a service may have beside its own. */
export type Mechanism =
  | 'outbox'
  | 'dead-letters'
  | 'message-schemas'
  | 'reconciliation'
  | 'acquirer-lists';

type MigrateOptions = {
  /** A role that may create schemas and roles. */
  adminUrl: string;
  /** Schema of the service; its role is `pixmesh_<schema>`. */
  schema: string;
  /** Password of the service's role. */
  password: string;
  /** Folder of the service's own migrations. */
  migrationsDir: string;
  mechanisms: readonly Mechanism[];
};

/** Name of the lock that deploy jobs of all versions share. */
export const MIGRATION_LOCK = 'pixmesh-migrate';

const MECHANISMS_DIR = fileURLToPath(new URL('../migrations', import.meta.url));
/** How long a job waits for another one that migrates. */
const OTHER_JOB_MS_MAX = 30_000;
/** How soon the server ends the statement of a job that was killed, which would go on to its end with its locks. */
const CLIENT_CHECK_INTERVAL_MS = 10_000;
/**
 * A migration that waits for the lock of a table holds up every call of that table which comes after it, so it gives up
 * sooner than a caller would, and is tried again.
 */
const LOCK_TIMEOUT_MS = 1_000;
const LOCK_TRIES_MAX = 60;
const LOCK_RETRY_DELAY_MS = 1_000;
/** lock_not_available. */
const NO_LOCK = '55P03';
/** Roles belong to the whole server: another database's deploy job may write the same one meanwhile. */
const ROLE_TRIES_MAX = 20;
const ROLE_RETRY_DELAY_MS = 50;
/** Another process has just created (unique_violation, duplicate_object) or changed (internal_error) the role. */
const ROLE_CONFLICTS = new Set(['23505', '42710', 'XX000']);

/**
 * Brings one schema to its newest version and gives its role exactly the rights it needs. Safe to run again
 * and from several places at once.
 */
export async function migrateSchema(options: MigrateOptions): Promise<void> {
  const { schema } = options;
  const client = new pg.Client({
    connectionString: options.adminUrl,
    lock_timeout: OTHER_JOB_MS_MAX,
  });
  await client.connect();
  try {
    await client.query(`set client_connection_check_interval = ${CLIENT_CHECK_INTERVAL_MS}`);
    // One lock for all schemas keeps concurrent deploy jobs in line; it ends with the session.
    await client.query('select pg_advisory_lock(hashtext($1))', [MIGRATION_LOCK]);
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await refuseInvalidIndexes(client, schema);
    await prepareRoleWithRetries(client, options);
    for (const mechanism of options.mechanisms) {
      const table = `${mechanism.replaceAll('-', '_')}_migrations`;
      await migrateWithRetries(client, { schema, table, dir: `${MECHANISMS_DIR}/${mechanism}` });
    }
    await migrateWithRetries(client, { schema, table: 'migrations', dir: options.migrationsDir });
    await protectHistory(client, schema);
  } finally {
    await client.end();
  }
}

/**
 * A concurrent build that was cut off leaves an index that nothing reads. A file with `if not exists` would adopt it, and
 * the next one drop what it replaces.
 */
async function refuseInvalidIndexes(client: pg.Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ remedy: string }>(INVALID_INDEXES, [schema]);
  if (rows.length === 0) return;
  const remedies = rows.map(({ remedy }) => remedy).join('; ');
  throw new Error(
    `${schema} has indexes that are not valid: their build was cut off, or has not ended. ${remedies}`,
  );
}

/**
 * Each with what makes it valid. That of a partitioned table counts while a partition has none of it. Where each has one it
 * serves, although it stays invalid after one of them was built anew.
 */
const INVALID_INDEXES = `
  select format(
    case
      when relkind = 'I' then 'attach an index of each partition to %s'
      when relispartition then 'reindex index concurrently %s'
      else 'drop index concurrently %s, and build it again'
    end,
    indexrelid::regclass
  ) as remedy
  from pg_index join pg_class on pg_class.oid = indexrelid
  where not indisvalid
    and relnamespace = (select oid from pg_namespace where nspname = $1)
    and (
      relkind = 'i'
      or (select count(*) from pg_inherits where inhparent = indexrelid)
        < (select count(*) from pg_inherits where inhparent = indrelid)
    )
  order by remedy`;

type Folder = { schema: string; table: string; dir: string };

/** Each file is a transaction of its own: a further try goes on with the one that found a table locked. */
async function migrateWithRetries(client: pg.Client, folder: Folder): Promise<void> {
  await repeat(() => migrate(client, folder), {
    triesMax: LOCK_TRIES_MAX,
    mayRepeat: (error) => (error as { code?: string }).code === NO_LOCK,
    pause: async () => {
      // The library leaves the transaction of a file that failed open.
      await client.query('rollback');
      await delay(LOCK_RETRY_DELAY_MS);
    },
  });
}

async function migrate(client: pg.Client, { schema, table, dir }: Folder): Promise<void> {
  await runner({
    dbClient: client,
    dir,
    schema,
    migrationsSchema: schema,
    migrationsTable: table,
    direction: 'up',
    noLock: true,
    logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
}

/** What has been migrated is read by services, and written by nobody but this job. */
async function protectHistory(client: pg.Client, schema: string): Promise<void> {
  const role = client.escapeIdentifier(`pixmesh_${schema}`);
  const tables = await client.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname = $1 and tablename ~ '(^|_)migrations$'`,
    [schema],
  );
  for (const { name } of tables.rows) {
    await client.query(`revoke insert, update, delete, truncate on ${name} from ${role}`);
  }
}

async function prepareRoleWithRetries(client: pg.Client, options: MigrateOptions): Promise<void> {
  await repeat(() => prepareRole(client, options), {
    triesMax: ROLE_TRIES_MAX,
    mayRepeat: (error) => ROLE_CONFLICTS.has((error as { code?: string }).code ?? ''),
    pause: (tries) => delay(ROLE_RETRY_DELAY_MS * Math.random() * tries),
  });
}

/** The role of the service: it sees its own schema, owns nothing, and cannot create anything. */
async function prepareRole(client: pg.Client, options: MigrateOptions): Promise<void> {
  const schema = client.escapeIdentifier(options.schema);
  const role = client.escapeIdentifier(`pixmesh_${options.schema}`);
  await client.query(`
    do $$ begin
      if not exists (select from pg_roles where rolname = ${client.escapeLiteral(`pixmesh_${options.schema}`)}) then
        create role ${role} login nosuperuser nocreatedb nocreaterole;
      end if;
    end $$;
    alter role ${role} password ${client.escapeLiteral(scramVerifier(options.password))};
    alter role ${role} set search_path = ${schema};
    create schema if not exists ${schema};
    revoke create on schema public from public;
    grant usage on schema ${schema} to ${role};
    alter default privileges in schema ${schema}
      grant select, insert, update, delete on tables to ${role};
    alter default privileges in schema ${schema} grant usage, select on sequences to ${role};
  `);
}
