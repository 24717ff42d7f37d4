import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import type { Queryable } from '@pixmesh/postgres/pool';

import { findDisputedPix } from '#disputes/disputes.sql.ts';
import type { Disposition } from '#received/decide-received.ts';
import type { RecordedPixReads } from '#received/received-pix.sql.ts';
import { findOwnRefunds } from '#refunds/refunds.sql.ts';
import { findReturns } from '#returns/pix-returns.sql.ts';
import { returnKey } from '#returns/return-key.ts';

/** What is recorded of the Pix that a status check shows. */
export type RecordedMoney = {
  /** What became of each recorded Pix, by end-to-end id. */
  received: ReadonlyMap<string, Disposition['kind']>;
  /** Returns that are recorded, by `returnKey`, each with what of it is booked. */
  returns: ReadonlyMap<string, Cents>;
  /** The acquirer's ids of returns that are refunds of ours. */
  refunds: ReadonlySet<string>;
  /** The Pix with a return of no nature that have a dispute, won ones too. */
  disputed: ReadonlySet<string>;
  /** Those of them whose disputes are all won. */
  won: ReadonlySet<string>;
};

/** Pix that the acquirer shows. */
export type ShownMoney = {
  received: readonly ReceivedPix[];
  /** Those of them with a dispute that the caller knows of and is not won: it may not be stored so yet. */
  knownDisputed?: readonly string[];
};

export type RecordedMoneyDeps = { db: Queryable; recordedPix: RecordedPixReads };

/** Loads what is recorded of some Pix. Returns are asked for only where one shows any, disputes where that matters. */
export async function loadRecordedMoney(
  { db, recordedPix }: RecordedMoneyDeps,
  { received, knownDisputed = [] }: ShownMoney,
): Promise<RecordedMoney> {
  const recorded =
    received.length === 0
      ? []
      : await recordedPix.submit(received.map(({ endToEndId }) => endToEndId));
  const returned = received.filter(({ returns }) => returns.length > 0);
  const disputed = await findDisputedPix(
    db,
    returned
      .filter(({ returns }) => returns.some(({ nature }) => nature === null))
      .map(({ endToEndId }) => endToEndId),
  );
  return {
    received: new Map(recorded.map((pix) => [pix.endToEndId, pix.disposition])),
    returns: await loadBookedReturns(db, returned),
    refunds: await findOwnRefunds(
      db,
      returned.flatMap(({ returns }) => returns.map(({ id }) => id)),
    ),
    disputed: new Set([...disputed.map(({ endToEndId }) => endToEndId), ...knownDisputed]),
    won: new Set(
      disputed
        .filter(({ endToEndId, isWon }) => isWon && !knownDisputed.includes(endToEndId))
        .map(({ endToEndId }) => endToEndId),
    ),
  };
}

/** Recorded returns of some Pix, each with what of it is booked. */
export async function loadBookedReturns(
  db: Queryable,
  pix: readonly Pick<ReceivedPix, 'endToEndId'>[],
): Promise<RecordedMoney['returns']> {
  const recorded = await findReturns(
    db,
    pix.map(({ endToEndId }) => endToEndId),
  );
  return new Map(
    recorded.map(({ endToEndId, returnId, amount, disposition }) => [
      returnKey(endToEndId, returnId),
      disposition === 'unbooked' ? toCents(0n) : amount,
    ]),
  );
}
