import type { Database, Transaction } from '@pixmesh/postgres/pool';

import { queueResends } from '#lanes/queue-resends.sql.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import { type Candidate, findCandidates } from './find-candidates.sql.ts';
import { recordProgress, readAllowance, takeRecoveriesLease } from './recoveries.sql.ts';
import type { RecoveryRow } from './recovery-row.ts';

/** Of one recovery in the queue at most: what a cancellation drops at once, and what a process that stops leaves. */
export const WAITING_MAX = 1_000;
/** Deliveries queued by one step. */
const QUEUED_PER_STEP_MAX = 200;
/** Deliveries read by one step. */
export const SCANNED_PER_STEP_MAX = 1_000;
/** How much larger the next page is than one that did not have enough. */
const PAGE_GROWTH = 4;

export type StepDeps = {
  db: Database;
  clock: ScheduleClock;
  /** Wakes senders for lanes in which something is due. */
  wakeSenders(laneIds: readonly string[]): void;
};

/** `busy`: there is more to read than a step does. `waiting`: for its rate, what it has queued, or another process. */
export type Stepped = 'busy' | 'waiting';

/**
 * One step of a recovery, in one commit: some deliveries are read, those that are wanted are queued behind everything
 * else of their lanes, and the position is recorded. A process that dies in between has changed nothing, and the next
 * step goes on from the position.
 */
export async function stepRecovery(deps: StepDeps, recovery: RecoveryRow): Promise<Stepped> {
  const step = await deps.db.transaction((tx) => queueSome(tx, deps, recovery));
  if (step.laneIds.length > 0) deps.wakeSenders(step.laneIds);
  return step.stepped;
}

type Step = { stepped: Stepped; laneIds: string[] };

async function queueSome(
  tx: Transaction,
  { clock }: StepDeps,
  recovery: RecoveryRow,
): Promise<Step> {
  const { id, position: from } = recovery;
  const idle: Step = { stepped: 'waiting', laneIds: [] };
  if (!(await takeRecoveriesLease(tx))) return idle;
  const allowance = await readAllowance(tx, clock, { id, waitingMax: WAITING_MAX });
  if (allowance === 0) return idle;
  const found = await findWanted(tx, recovery, Math.min(allowance, QUEUED_PER_STEP_MAX));
  const queued = await queueResends(tx, clock, { deliveryIds: found.wanted, recoveryId: id });
  const { last: position, isAllRead } = found;
  const progress = { id, from, position, queuedCount: queued.length, isAllRead };
  // Canceled meanwhile: what was queued here must not be.
  if (!(await recordProgress(tx, clock, progress))) throw new StepUndone();
  const laneIds = [...new Set(queued.map(({ laneId }) => laneId))];
  return { stepped: found.wanted.length === 0 && !isAllRead ? 'busy' : 'waiting', laneIds };
}

/** The recovery was canceled or moved on during a step. */
export class StepUndone extends Error {
  override readonly name = 'StepUndone';
}

/** `last`: the last delivery that was read. `isAllRead`: nothing is left behind it. */
type Found = { wanted: string[]; last: string | null; isAllRead: boolean };

/**
 * Reads deliveries until enough are wanted, a first page of as many as may be queued and then larger ones: where
 * most are wanted nothing is read in vain, and where few are, a step still gets on.
 */
async function findWanted(tx: Transaction, recovery: RecoveryRow, limit: number): Promise<Found> {
  const wanted: string[] = [];
  let last = recovery.position;
  let left = SCANNED_PER_STEP_MAX;
  let pageSize = limit;
  while (left > 0 && wanted.length < limit) {
    pageSize = Math.min(pageSize, left);
    const page = await findCandidates(tx, { ...recovery, position: last }, pageSize);
    const taken = takeWanted(page, limit - wanted.length);
    wanted.push(...taken.wanted);
    last = taken.last ?? last;
    if (taken.isAllRead && page.length < pageSize) return { wanted, last, isAllRead: true };
    left -= pageSize;
    pageSize *= PAGE_GROWTH;
  }
  return { wanted, last, isAllRead: false };
}

/** As many as may be queued, and the last one that was read for them. */
export function takeWanted(candidates: readonly Candidate[], limit: number): Found {
  const wanted: string[] = [];
  let last: string | null = null;
  for (const { id, isWanted } of candidates) {
    if (isWanted && wanted.length === limit) return { wanted, last, isAllRead: false };
    if (isWanted) wanted.push(id);
    last = id;
  }
  return { wanted, last, isAllRead: true };
}
