import pg from 'pg';
import { REGISTRY_DATABASE } from '../infra/postgres-databases.ts';
import { StartupFailure } from '../startup-failure.ts';
import { givenValue } from './given-settings.ts';
import { SCALABLE, type Scale } from './scale.ts';

/** For the acquirer's stand-in, the registry, the deploy job, tools, tests, and Postgres' own reserve. */
export const RESERVED_CONNECTIONS = 100;

/** What Postgres gives, and what sessions beside the stack hold of it now. */
type Connections = { max: number; heldByOthers: number };

/**
 * Refuses a scale whose pools could together want more connections than Postgres gives: a Postgres that was there before
 * may have few. Processes x pools have to fit: beyond it, requests of every service would fail at the worst moment.
 */
export async function requireConnections(scale: Scale, postgresUrl: string): Promise<void> {
  const { max, heldByOthers } = await readConnections(postgresUrl);
  // In a Postgres of ours nobody is but tools and tests, for whom connections are reserved.
  const isGiven = process.env['POSTGRES_URL'] === postgresUrl;
  const failure = findOverdraft(scale, max, isGiven ? heldByOthers : 0);
  if (failure !== null) throw new StartupFailure(failure);
}

/** Why the scale does not fit, in one line that names the numbers; null where it does. */
export function findOverdraft(
  scale: Scale,
  connectionsMax: number,
  heldByOthers = 0,
): string | null {
  const poolSize = Number(givenValue('DATABASE_POOL_SIZE')) || undefined;
  const parts = SCALABLE.map(({ name, connections }) => {
    const count = scale.get(name) ?? 1;
    const each = connections(poolSize);
    return { text: `${name} ${count} x ${each}`, total: count * each };
  });
  const wanted = parts.reduce((sum, { total }) => sum + total, 0);
  const free = connectionsMax - RESERVED_CONNECTIONS - heldByOthers;
  if (wanted <= free) return null;
  const sum = parts.map(({ text }) => text).join(' + ');
  const others = heldByOthers > 0 ? ` beside ${heldByOthers} of other databases` : '';
  return `too many processes for Postgres: ${sum} = ${wanted} connections, but max_connections ${connectionsMax} leaves ${free}${others}`;
}

/** Sessions in the database of the stack and in that of its registry are its own, or of tools: they have a reserve. */
async function readConnections(postgresUrl: string): Promise<Connections> {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  try {
    const { rows } = await client.query<Connections>(
      `select current_setting('max_connections')::int as max,
         (select count(*)::int from pg_stat_activity
          where backend_type = 'client backend' and datname not in (current_database(), $1)) as "heldByOthers"`,
      [REGISTRY_DATABASE],
    );
    return rows[0] as Connections;
  } finally {
    await client.end();
  }
}
