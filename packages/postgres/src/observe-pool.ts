import { counter, observedGauge } from '@pixmesh/telemetry/metrics';
import type pg from 'pg';

/** What an error of the database is counted as, by SQLSTATE; the rest is `other`. */
const KINDS: Readonly<Record<string, string>> = {
  '53100': 'disk_full',
  '53300': 'too_many_connections',
  '57014': 'statement_timeout',
  '55P03': 'lock_timeout',
  '40P01': 'deadlock',
  '40001': 'serialization_failure',
  '25006': 'read_only',
};
const OTHER = 'other';
const CONNECTION = 'connection';

const errors = counter(
  'postgres_errors_total',
  'Statements that Postgres or the way to it refused, by kind',
  [...Object.values(KINDS), OTHER, CONNECTION].map((kind) => ({ kind })),
);

/** Broken constraints are answers that callers expect, and no errors of the database. */
const CONSTRAINTS = /^23/;

export function countDatabaseError(error: unknown): void {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && CONSTRAINTS.test(code)) return;
  const isState = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);
  errors.add(1, { kind: isState ? (KINDS[code] ?? OTHER) : CONNECTION });
}

/** Connections of a pool by state, and its size. Pools of a process have different names. */
export function observePool(name: string, { pool, max }: { pool: pg.Pool; max: number }): void {
  const labels = { pool: name };
  const connections = () => [
    { value: pool.totalCount - pool.idleCount, attributes: { ...labels, state: 'used' } },
    { value: pool.idleCount, attributes: { ...labels, state: 'idle' } },
  ];
  observedGauge(
    'postgres_pool_connections',
    'Connections of a pool, by state; what waits for one is `fair_share_waiting`',
    async () => connections(),
  );
  observedGauge('postgres_pool_size', 'Connections that a pool may have', async () => [
    { value: max, attributes: labels },
  ]);
}
