import type { Database } from '@pixmesh/postgres/pool';
import { startDueRowsJob } from '@pixmesh/postgres/due-rows-job';
import type { PollingLoop } from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';
import type { Logger } from '@pixmesh/telemetry/logger';
import { observedGauge } from '@pixmesh/telemetry/metrics';

import { addListCursors, leaseListCursors, type ListCursor, listLags } from './list-cursor.sql.ts';
import type { ListReading } from './list-reading.ts';
import { readList } from './read-list.ts';

/** For one page, after which it is renewed; a reader that dies is followed after this long. */
const LEASE_MS = 60_000;

/** Reads lists of the acquirer, each by one replica at a time: what no callback announced is found, too. */
export function startListsJob<Item>(deps: {
  db: Database;
  logger: Logger;
  readings: readonly ListReading<Item>[];
  signal?: WakeSignal;
}): PollingLoop {
  const { db, logger, readings, signal } = deps;
  const byName = new Map(readings.map((reading) => [reading.name, reading]));
  const names = [...byName.keys()];
  let isAdded = false;
  observeLags(db, names);
  return startDueRowsJob<ListCursor>({
    name: 'read lists of the acquirer',
    logger,
    ...(signal && { signal }),
    inFlightMax: readings.length,
    sources: [{ take, max: readings.length }],
    handle: async (cursor, stopping) => {
      const reading = byName.get(cursor.name);
      if (reading) await readList({ db, logger, leaseMs: LEASE_MS, stopping }, reading, cursor);
    },
    describe: ({ name }) => ({ list: name }),
    parentOf: () => null,
  });

  async function take(limit: number): Promise<ListCursor[]> {
    if (!isAdded) await addListCursors(db, names);
    isAdded = true;
    return await leaseListCursors(db, { readings, limit, leaseMs: LEASE_MS });
  }
}

function observeLags(db: Database, names: readonly string[]): void {
  observedGauge(
    'acquirer_list_lag_seconds',
    'How long ago a list of the acquirer was last read to its end, by reading',
    async () => {
      const lags = await listLags(db);
      return lags
        .filter(({ name }) => names.includes(name))
        .map(({ name, seconds }) => ({ value: seconds, attributes: { list: name } }));
    },
  );
}
