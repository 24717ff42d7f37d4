import { within } from '@pixmesh/kernel/within';
import { observedGauge, sharedFor } from '@pixmesh/telemetry/metrics';

import type { Queryable } from './pool.ts';
import { readServerState } from './server-state.sql.ts';

/** A server that takes longer counts as one that does not answer. */
const ANSWER_MS_MAX = 2_000;
/** A segment that waits for longer is one whose archiving hangs: an attempt takes seconds. */
const ARCHIVE_SECONDS_MAX = 600;
/** Gauges of one scrape share an answer. */
const SCRAPE_MS = 1_000;

type ServerState = { isUp: boolean; clockOffsetSeconds: number | null; isArchiveFailing: boolean };
const DOWN: ServerState = { isUp: false, clockOffsetSeconds: null, isArchiveFailing: false };

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
    '1 where the last segment of the log could not be archived, or one waits for ten minutes',
    async () => {
      const { isUp, isArchiveFailing } = await state();
      return isUp ? [{ value: isArchiveFailing ? 1 : 0 }] : [];
    },
  );
}

async function readServer(db: Queryable): Promise<ServerState> {
  return await within(
    ANSWER_MS_MAX,
    askServer(db).catch(() => DOWN),
    DOWN,
  );
}

async function askServer(db: Queryable): Promise<ServerState> {
  const askedMs = Date.now();
  const row = await readServerState(db, { archiveSecondsMax: ARCHIVE_SECONDS_MAX });
  if (row === undefined) return DOWN;
  // The way there and back is taken for equally long.
  const middleMs = (askedMs + Date.now()) / 2;
  const clockOffsetSeconds = row.now - middleMs / 1000;
  return { isUp: true, clockOffsetSeconds, isArchiveFailing: row.isArchiveFailing };
}
