import pg from 'pg';
import { StartupFailure } from '../startup-failure.ts';
import { givenValue } from './given-settings.ts';
import { SCALABLE, type Scale } from './scale.ts';

/** For the acquirer's stand-in, the registry, the deploy job, tools, tests, and Postgres' own reserve. */
const RESERVED_CONNECTIONS = 100;

/**
 * Refuses a scale whose pools could together want more connections than Postgres gives: a Postgres that was there before
 * may have few. Processes x pools have to fit: beyond it, requests of every service would fail at the worst moment.
 */
export async function requireConnections(scale: Scale, postgresUrl: string): Promise<void> {
  const failure = findOverdraft(scale, await readConnectionsMax(postgresUrl));
  if (failure !== null) throw new StartupFailure(failure);
}

/** Why the scale does not fit, in one line that names the numbers; null where it does. */
export function findOverdraft(scale: Scale, connectionsMax: number): string | null {
  const poolSize = Number(givenValue('DATABASE_POOL_SIZE')) || undefined;
  const parts = SCALABLE.map(({ name, connections }) => {
    const count = scale.get(name) ?? 1;
    const each = connections(poolSize);
    return { text: `${name} ${count} x ${each}`, total: count * each };
  });
  const wanted = parts.reduce((sum, { total }) => sum + total, 0);
  const free = connectionsMax - RESERVED_CONNECTIONS;
  if (wanted <= free) return null;
  const sum = parts.map(({ text }) => text).join(' + ');
  return `too many processes for Postgres: ${sum} = ${wanted} connections, but max_connections ${connectionsMax} leaves ${free}`;
}

async function readConnectionsMax(postgresUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ max_connections: string }>('show max_connections');
    return Number(rows[0]?.max_connections);
  } finally {
    await client.end();
  }
}
