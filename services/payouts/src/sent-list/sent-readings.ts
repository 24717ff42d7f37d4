import { type FreshPeriods, freshReadings } from '@pixmesh/acquirer-lists/fresh-readings';
import type { ListReading } from '@pixmesh/acquirer-lists/list-reading';
import { returnContradicted } from '@pixmesh/acquirer-lists/return-contradicted';
import { recordContradictions } from '@pixmesh/acquirer-lists/return-contradictions.sql';
import type { Acquirer, AcquirerPayout } from '@pixmesh/acquirer/acquirer';
import { fromAcquirerId, type PayoutId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import type { Logger } from '@pixmesh/telemetry/logger';

import { type ListedSend, requestDiffering } from './sent-list.sql.ts';

const DAY_MS = 86_400_000;
/** Within these days an order may turn or come back and be found within minutes, whatever becomes of its callback. */
const RECENT_HORIZON_MS = 7 * DAY_MS;
const RECENT_ROUND_MS = 90_000;
/** A recipient may return a Pix for 90 days, and under the MED not much later. */
const OLDER_HORIZON_MS = 120 * DAY_MS;
const OLDER_ROUND_MS = 3_600_000;
/** Pages of one run. With more orders a week than 180 pages (180,000) a round takes longer. */
const FRESH_PAGES = 200;
const RECENT_PAGES = 20;
const OLDER_PAGES = 2;

const BOOKED = { table: sql`payout_returns`, bookedAt: sql`recorded_at` };

export type SentReadingsDeps = FreshPeriods & {
  db: Database;
  logger: Logger;
  acquirer: Pick<Acquirer, 'listSent'>;
  wakeStatusChecks(): void;
};

/**
 * How the acquirer's list of sent Pix is read: what is new, and more rarely what is shown late; what has changed of the
 * last week, within 90 s; and what is older, slowly. The list shows orders by their time and not by that
 * of a change, and no filter of it would show an order that failed and settled after all, so every order is compared. A
 * difference only requests a check of its payout; nothing is booked from a list, and what cannot be read is shown by
 * reconciliation (decision 218).
 */
export function sentReadings(deps: SentReadingsDeps): ListReading<AcquirerPayout>[] {
  const common = { read: deps.acquirer.listSent.bind(deps.acquirer), compare };
  const { intervalMs } = deps;
  return [
    ...freshReadings<AcquirerPayout>({ ...common, name: 'sent', pagesMax: FRESH_PAGES }, deps),
    {
      ...common,
      name: 'sent.recent',
      windows: { kind: 'walk', horizonMs: RECENT_HORIZON_MS, roundMs: RECENT_ROUND_MS },
      intervalMs,
      pagesMax: RECENT_PAGES,
    },
    {
      ...common,
      name: 'sent.older',
      windows: { kind: 'walk', horizonMs: OLDER_HORIZON_MS, roundMs: OLDER_ROUND_MS },
      intervalMs,
      pagesMax: OLDER_PAGES,
    },
  ];

  async function compare(items: readonly AcquirerPayout[]): Promise<void> {
    if ((await requestDiffering(deps.db, items.flatMap(toListed))) > 0) deps.wakeStatusChecks();
    const returns = items.flatMap(toReturns);
    const contradicted = await recordContradictions(deps.db, BOOKED, returns);
    for (const found of contradicted) returnContradicted(deps.logger, found);
  }
}

function toReturns({ endToEndId, returns }: AcquirerPayout) {
  return returns.flatMap(({ returnId, status }) =>
    returnId === null ? [] : [{ endToEndId, id: returnId, status }],
  );
}

/** An order that no payout explains, or a return without the id that would book it, is shown by reconciliation. */
function toListed({ idEnvio, status, returns }: AcquirerPayout): ListedSend[] {
  const id = idEnvio === null ? null : fromAcquirerId<PayoutId>(idEnvio);
  if (id === null) return [];
  const returned = returns.flatMap(({ returnId, amountCents, status: state }) =>
    state === 'returned' && status === 'settled' && returnId !== null
      ? [{ returnId, amountCents }]
      : [],
  );
  return [{ id, status, returned }];
}
