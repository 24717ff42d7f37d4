import { TOPICS } from '@pixmesh/contracts/topics';
import type { Queryable } from '@pixmesh/postgres/pool';
import { type Check, type FoundBreak, NEVER_IN_FLIGHT } from '@pixmesh/reconciliation/check';
import { comparePages, createResources } from '@pixmesh/reconciliation/resources';

import { findHistories, type HistoryCount, listHistories } from './history-check.sql.ts';

const CHARGES_PER_PAGE = 1_000;

/**
 * The history of a charge explains how it came to stand where it does: a row for each version without gaps, each from
 * the state that the one before led to, the last to the state of now. Both sides are read in one snapshot.
 */
export function historyCheck({ db }: { db: Queryable }): Check {
  const historiesIn = createResources<HistoryCount>({
    db,
    topic: TOPICS.chargesEvents,
    pageSize: CHARGES_PER_PAGE,
    read: (page) => listHistories(db, page),
    find: (ids) => findHistories(db, ids),
  });
  return {
    name: 'history',
    windowMs: 0,
    run: (scope) =>
      comparePages(historiesIn(scope), scope, (histories) => histories.flatMap(compareHistory)),
  };
}

/** Charges from before the table of their history begin where they stood then. */
export function compareHistory(history: HistoryCount): FoundBreak[] {
  const { id, version, status, rows, first, last, lastStatus, misfits } = history;
  const at = { id, changedAt: NEVER_IN_FLIGHT };
  if (last === null || first === null || last !== version || rows !== last - first + 1) {
    const found = `${rows} rows, ${first} to ${last}`;
    return [{ kind: 'gap', ...at, expected: `up to ${version}`, found }];
  }
  if (misfits > 0)
    return [{ kind: 'gap', ...at, expected: 'a chain', found: `${misfits} misfits` }];
  if (lastStatus === status) return [];
  return [{ kind: 'state', ...at, expected: status, found: lastStatus }];
}
