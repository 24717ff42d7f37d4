import { counter, observedGauge, sharedFor } from '@pixmesh/telemetry/metrics';
import type pg from 'pg';

import { named, sql } from './sql.ts';
import type { Queryable } from './pool.ts';

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

/** A server that takes longer counts as one that does not answer. */
const ANSWER_MS_MAX = 2_000;
/** Gauges of one scrape share an answer. */
const SCRAPE_MS = 1_000;

type ServerState = { isUp: boolean; clockOffsetSeconds: number | null; isArchiveFailing: boolean };
const DOWN: ServerState = { isUp: false, clockOffsetSeconds: null, isArchiveFailing: false };

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

/** What a process sees of its server at a scrape, by one statement. */
export function observeServer(db: Queryable): void {
  const state = sharedFor(SCRAPE_MS, () => readServer(db));
  observedGauge('postgres_up', '1 where Postgres has answered this scrape', async () => [
    { value: (await state()).isUp ? 1 : 0 },
  ]);
  observedGauge(
    'postgres_clock_offset_seconds',
    'How far the clock of Postgres is ahead of that of this process',
    async () => {
      const { clockOffsetSeconds } = await state();
      return clockOffsetSeconds === null ? [] : [{ value: clockOffsetSeconds }];
    },
  );
  observedGauge(
    'postgres_wal_archive_failing',
    '1 where the last segment of the log could not be archived',
    async () => {
      const { isUp, isArchiveFailing } = await state();
      return isUp ? [{ value: isArchiveFailing ? 1 : 0 }] : [];
    },
  );
}

async function readServer(db: Queryable): Promise<ServerState> {
  const timeout = Promise.withResolvers<ServerState>();
  const timer = setTimeout(() => timeout.resolve(DOWN), ANSWER_MS_MAX);
  const answer = askServer(db).catch(() => DOWN);
  return await Promise.race([answer, timeout.promise]).finally(() => clearTimeout(timer));
}

/** The view of the archiver has one row, and every role may read it. */
async function askServer(db: Queryable): Promise<ServerState> {
  const askedMs = Date.now();
  const [row] = await db.query<{ now: number; failing: boolean }>(
    named(
      'server_state',
      sql`
        select
          extract(epoch from clock_timestamp())::float8 as now,
          coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as failing
        from pg_stat_archiver`,
    ),
  );
  if (row === undefined) return DOWN;
  // The way there and back is taken for equally long.
  const middleMs = (askedMs + Date.now()) / 2;
  const clockOffsetSeconds = row.now - middleMs / 1000;
  return { isUp: true, clockOffsetSeconds, isArchiveFailing: row.failing };
}
