import { type FreshPeriods, freshReadings } from '@pixmesh/acquirer-lists/fresh-readings';
import type { ListReading } from '@pixmesh/acquirer-lists/list-reading';
import { returnContradicted } from '@pixmesh/acquirer-lists/return-contradicted';
import { recordContradictions } from '@pixmesh/acquirer-lists/return-contradictions.sql';
import type { Acquirer, ReceivedPix, UnreadableItem } from '@pixmesh/acquirer/acquirer';
import { isPaidTo } from '@pixmesh/acquirer/is-paid-to';
import { type ChargeId, fromAcquirerId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import type { Logger } from '@pixmesh/telemetry/logger';

import { requestChecks } from '#charge/charge-checks.sql.ts';

import { noticePix } from './pix-notices.sql.ts';
import { findUnrecorded, type ListedPix } from './received-list.sql.ts';

const DAY_MS = 86_400_000;
/** Returns come within the 90 days of a refund (decision 76), and those under the MED not much later. */
const HORIZON_MS = 120 * DAY_MS;
/** What the acquirer changes of an old Pix is a return, and found within minutes: few Pix have one. */
const RETURNED_ROUND_MS = 90_000;
/** Everything else was found when it was new, unless the acquirer showed it late. */
const OLDER_ROUND_MS = 3_600_000;
/** Pages of one run. What is new comes first, and is read to its end. */
const FRESH_PAGES = 200;
const RETURNED_PAGES = 20;
const OLDER_PAGES = 2;

const BOOKED = { table: sql`pix_returns`, bookedAt: sql`seen_at` };

export type ReceivedReadingsDeps = FreshPeriods & {
  db: Database;
  logger: Logger;
  acquirer: Pick<Acquirer, 'listReceived'>;
  /** The installation's own Pix key. */
  pixKey: string;
  wakeStatusChecks(): void;
  wakeNotices(): void;
};

/**
 * How the acquirer's list of received Pix is read: what is new, and more rarely what is shown late; whatever of the
 * last 120 days has a return, within 90 s; and all else of them, slowly. Checks are requested of what is not
 * recorded; nothing is booked from a list.
 */
export function receivedReadings(deps: ReceivedReadingsDeps): ListReading<ReceivedPix>[] {
  const { acquirer, intervalMs } = deps;
  return [
    ...freshReadings<ReceivedPix>(
      {
        // Its lag is how late a Pix that no callback announced is found.
        name: 'received',
        pagesMax: FRESH_PAGES,
        read: (page) => acquirer.listReceived(page),
        compare: (items, unreadable) =>
          compareReceived(deps, { items, listed: items.map(toListed), unreadable }),
      },
      deps,
    ),
    {
      name: 'received.returned',
      windows: { kind: 'walk', horizonMs: HORIZON_MS, roundMs: RETURNED_ROUND_MS },
      intervalMs,
      pagesMax: RETURNED_PAGES,
      read: (page) => acquirer.listReceived({ ...page, returnedOnly: true }),
      compare: compareOlder,
    },
    {
      name: 'received.older',
      windows: { kind: 'walk', horizonMs: HORIZON_MS, roundMs: OLDER_ROUND_MS },
      intervalMs,
      pagesMax: OLDER_PAGES,
      read: (page) => acquirer.listReceived(page),
      compare: compareOlder,
    },
  ];

  async function compareOlder(
    all: readonly ReceivedPix[],
    unreadable: readonly UnreadableItem[],
  ): Promise<void> {
    // Foreign money, if there is any, was reported when it was new.
    const items = all.filter((pix) => isPaidTo(pix, deps.pixKey));
    // Checks of its charge have had their time: whatever the acquirer shows of that, the Pix itself is there.
    const listed = items.map((pix) => ({ ...toListed(pix), chargeId: null }));
    await compareReceived(deps, { items, listed, unreadable });
  }
}

type ReceivedPage = {
  items: readonly ReceivedPix[];
  /** The same, as far as they are looked for. */
  listed: readonly ListedPix[];
  unreadable: readonly UnreadableItem[];
};

async function compareReceived(deps: ReceivedReadingsDeps, page: ReceivedPage): Promise<void> {
  await compareReturns(deps, page.items);
  const listed = [...page.listed, ...page.unreadable.flatMap(toUnread)];
  const { charges, unexplained } = await findUnrecorded(deps.db, listed);
  if ((await requestChecks(deps.db, charges)) > 0) deps.wakeStatusChecks();
  if (unexplained.length === 0) return;
  await noticePix(deps.db, unexplained, { notFoundMs: 0 });
  deps.wakeNotices();
}

/** A return that was carried out and is not any more: reconciliation shows it until it is again. */
async function compareReturns(
  { db, logger }: ReceivedReadingsDeps,
  items: readonly ReceivedPix[],
): Promise<void> {
  const returns = items.flatMap(({ endToEndId, returns: some }) =>
    some.map(({ id, status }) => ({ endToEndId, id, status })),
  );
  const contradicted = await recordContradictions(db, BOOKED, returns);
  for (const found of contradicted) returnContradicted(logger, found);
}

function toListed({ endToEndId, txid, returns }: ReceivedPix): ListedPix {
  return {
    endToEndId,
    chargeId: txid === null ? null : fromAcquirerId<ChargeId>(txid),
    returnIds: returns.filter(({ status }) => status === 'returned').map(({ id }) => id),
  };
}

/** Whose Pix it is cannot be read from the list: a check of the Pix itself is repeated until it can. */
function toUnread({ endToEndId }: UnreadableItem): ListedPix[] {
  return endToEndId === null ? [] : [{ endToEndId, chargeId: null, returnIds: [] }];
}
