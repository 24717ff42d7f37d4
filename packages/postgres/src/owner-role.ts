import pg from 'pg';

import { MIGRATION_LOCK } from './migrate.ts';
import { repeat } from './repeat.ts';
import { scramVerifier } from './scram-verifier.ts';

/** Owns the schemas of the mesh and runs their migrations; it may make roles, and is no superuser. */
export const OWNER_ROLE = 'pixmesh_owner';

type Ownership = {
  /** A superuser, or who else may make roles and give this database away. */
  adminUrl: string;
  role: string;
  password: string;
  /** What is in these schemas becomes the role's: a database of an earlier version belongs to a superuser. */
  schemas: readonly string[];
};

/** A service that uses a table must not wait behind us for longer. */
const LOCK_TIMEOUT_MS = 2_000;
/**
 * Another job has just created the role (unique_violation, duplicate_object) or changed an object (internal_error), or
 * a service used a table for long (lock_not_available).
 */
const REPEATABLE = new Set(['XX000', '55P03', '23505', '42710']);
const TRIES_MAX = 20;

/** The role that the deploy job connects by: it owns the database and every schema of ours in it. Safe to repeat. */
export async function prepareOwner(
  options: Pick<Ownership, 'adminUrl' | 'password' | 'schemas'>,
): Promise<void> {
  const serviceRoles = options.schemas.map((schema) => `pixmesh_${schema}`);
  await asAdmin(options.adminUrl, async (client) => {
    await giveDatabase(client, { ...options, role: OWNER_ROLE }, 'createrole');
    // Who has made a role may change it. Those of an earlier version were made by a superuser.
    const { rows } = await client.query<{ statement: string }>(
      `select format('grant %I to %I with admin option, inherit false, set false', service.rolname, $2::text) as statement
       from pg_roles as service
       where service.rolname = any($1) and not exists (
         select from pg_auth_members
         where roleid = service.oid and member = $2::regrole and admin_option
       )`,
      [serviceRoles, OWNER_ROLE],
    );
    for (const { statement } of rows) await repeatedly(client, statement);
  });
}

/** A database, and what is in these schemas of it, becomes a role's that may do nothing else. Safe to repeat. */
export async function handOver(options: Ownership): Promise<void> {
  await asAdmin(options.adminUrl, (client) => giveDatabase(client, options, 'nocreaterole'));
}

async function asAdmin(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, lock_timeout: LOCK_TIMEOUT_MS });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock(hashtext($1))', [MIGRATION_LOCK]);
    await work(client);
  } finally {
    await client.end();
  }
}

async function giveDatabase(
  client: pg.Client,
  { role, password, schemas }: Omit<Ownership, 'adminUrl'>,
  roleRight: 'createrole' | 'nocreaterole',
): Promise<void> {
  const name = client.escapeIdentifier(role);
  const { rows } = await client.query<{ exists: boolean }>(
    'select exists (select from pg_roles where rolname = $1)',
    [role],
  );
  if (!rows[0]?.exists) await repeatedly(client, `create role ${name}`);
  await repeatedly(
    client,
    `alter role ${name} login nosuperuser nocreatedb nobypassrls ${roleRight} password ${client.escapeLiteral(scramVerifier(password))}`,
  );
  // Who is no superuser gives away only to a role whose member it is.
  await repeatedly(
    client,
    `do $$ begin
       if not (select rolsuper from pg_roles where rolname = current_user) then
         grant ${name} to current_user with inherit true, set true;
       end if;
     end $$`,
  );
  const { rows: statements } = await client.query<{ statement: string }>(FOREIGN_OBJECTS, [
    role,
    schemas,
  ]);
  for (const { statement } of statements) await repeatedly(client, statement);
}

/**
 * What has to change hands, tables before the functions that change them. Each is a statement of its own: a lock on a
 * table that is in use is held for no longer than it takes.
 */
const FOREIGN_OBJECTS = `
  with ours as (select oid, nspname, nspowner from pg_namespace where nspname = any($2)),
  owner as (select $1::regrole as oid)
  select statement from (
    select 1 as place, format('alter database %I owner to %I', datname, $1::text) as statement
    from pg_database, owner
    where datname = current_database() and datdba <> owner.oid
    union all
    select 2, format('alter schema %I owner to %I', nspname, $1::text)
    from ours, owner
    where nspname <> 'public' and nspowner <> owner.oid
    union all
    -- Sequences of a column go with its table.
    select 3, format(
      'alter %s %s owner to %I',
      case relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view' else 'table' end,
      pg_class.oid::regclass,
      $1::text
    )
    from pg_class join ours on relnamespace = ours.oid, owner
    where relkind in ('r', 'p', 'v', 'm', 'S') and relowner <> owner.oid and not exists (
      select from pg_depend
      where classid = 'pg_class'::regclass and objid = pg_class.oid and relkind = 'S' and deptype in ('a', 'i')
    )
    union all
    select 4, format('alter type %s owner to %I', pg_type.oid::regtype, $1::text)
    from pg_type join ours on typnamespace = ours.oid, owner
    where typowner <> owner.oid and (
      typtype in ('e', 'd', 'r')
      -- A table has a type as well, which goes with it.
      or typtype = 'c' and (select relkind from pg_class where pg_class.oid = typrelid) = 'c'
    )
    union all
    select 5, format('alter routine %s owner to %I', pg_proc.oid::regprocedure, $1::text)
    from pg_proc join ours on pronamespace = ours.oid, owner
    where proowner <> owner.oid
  ) as changes
  order by place`;

async function repeatedly(client: pg.Client, statement: string): Promise<void> {
  await repeat(() => client.query(statement), {
    triesMax: TRIES_MAX,
    mayRepeat: (error) => REPEATABLE.has((error as { code?: string }).code ?? ''),
  });
}
