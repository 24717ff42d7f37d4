import type { Database } from '@pixmesh/postgres/pool';

import type { DueDelivery } from '#attempts/due-delivery.ts';
import { listRates, returnToRates, takeFromRates } from '#rates/delivery-rates.sql.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import type { LaneRequest } from './fetch-due.sql.ts';

/** A changed limit is known by the first turn after this. */
const REFRESH_MS = 1_000;
/** An account whose rate is used up is not asked about for as long as one delivery takes, within these. */
const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 500;
/** What has waited for a limit and is not sent for so long after its pause is late by our own fault. */
const LATELY_MS = 60_000;

/** The limits on deliveries per second, of which all senders take. */
export type DeliveryRates = {
  /** Whether a delivery that has been due since that moment, and is sent now, has waited for the limit of its account. */
  hasWaited(accountId: string, sinceMs: number): boolean;
  /** Whether deliveries of the account have a limit, or none is known yet. */
  isLimited(accountId: string): boolean;
  /** Accounts of which nothing may be sent at this moment. */
  paused(): ReadonlySet<string>;
  /** What of the requests may be sent now. The others wait where they are. */
  admit(requests: readonly LaneRequest[]): Promise<LaneRequest[]>;
  /** Returns what was admitted and not found: any sender may take it. Answers whether it was any. */
  returnUnused(admitted: readonly LaneRequest[], found: readonly DueDelivery[]): Promise<boolean>;
};

type Deps = {
  db: Database;
  clock: ScheduleClock;
  accountOf(laneId: string): string | undefined;
};

export function createDeliveryRates({ db, clock, accountOf }: Deps): DeliveryRates {
  let rates: ReadonlyMap<string, number> = new Map();
  let refreshedMs = -Infinity;
  const pausedUntilMs = new Map<string, number>();
  /** When the last pause of an account was over in which something may have waited. */
  const waitedUntilMs = new Map<string, number>();
  return { hasWaited, isLimited, paused, admit, returnUnused };

  function hasWaited(accountId: string, sinceMs: number): boolean {
    return (waitedUntilMs.get(accountId) ?? -Infinity) > sinceMs;
  }

  function isLimited(accountId: string): boolean {
    return refreshedMs === -Infinity || rates.has(accountId);
  }

  function paused(): ReadonlySet<string> {
    const nowMs = performance.now();
    for (const [accountId, untilMs] of pausedUntilMs) {
      if (untilMs > nowMs) continue;
      pausedUntilMs.delete(accountId);
      waitedUntilMs.set(accountId, untilMs);
    }
    return new Set(pausedUntilMs.keys());
  }

  async function admit(requests: readonly LaneRequest[]): Promise<LaneRequest[]> {
    await refresh();
    const wanted = countByAccount(requests, limitedAccountOf);
    if (wanted.size === 0) return [...requests];
    return divide(requests, await take(wanted), limitedAccountOf);
  }

  async function returnUnused(
    admitted: readonly LaneRequest[],
    found: readonly DueDelivery[],
  ): Promise<boolean> {
    const counts = countByAccount(admitted, limitedAccountOf);
    for (const { laneId } of found) {
      const accountId = limitedAccountOf(laneId);
      if (accountId !== null) counts.set(accountId, (counts.get(accountId) ?? 0) - 1);
    }
    const unused = [...counts].flatMap(([accountId, count]) =>
      count > 0 ? [{ accountId, count }] : [],
    );
    if (unused.length === 0) return false;
    await returnToRates(db, unused);
    for (const { accountId } of unused) pausedUntilMs.delete(accountId);
    return true;
  }

  async function take(wanted: ReadonlyMap<string, number>): Promise<Map<string, number>> {
    const rows = [...wanted].map(([accountId, count]) => ({ accountId, count }));
    const taken = await takeFromRates(db, clock, rows);
    const given = new Map(taken.map(({ accountId, count }) => [accountId, count]));
    for (const { accountId, count } of rows) {
      if ((given.get(accountId) ?? 0) < count) pause(accountId);
    }
    return given;
  }

  function pause(accountId: string): void {
    pausedUntilMs.set(accountId, performance.now() + pauseMsAt(rates.get(accountId) ?? 1));
  }

  async function refresh(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - refreshedMs < REFRESH_MS) return;
    rates = await listRates(db);
    refreshedMs = nowMs;
    for (const [accountId, untilMs] of waitedUntilMs) {
      if (nowMs - untilMs > LATELY_MS) waitedUntilMs.delete(accountId);
    }
  }

  function limitedAccountOf(laneId: string): string | null {
    const accountId = accountOf(laneId);
    return accountId !== undefined && rates.has(accountId) ? accountId : null;
  }
}

function pauseMsAt(perSecond: number): number {
  return Math.min(Math.max(1_000 / perSecond, PAUSE_MS_MIN), PAUSE_MS_MAX);
}

/**
 * Gives requests what their accounts may send: one to each in turn, then a second one to each. One request may find no
 * more than one delivery, and would keep the rest from the others. In the order of the requests; one that gets nothing
 * is left out.
 */
function divide(
  requests: readonly LaneRequest[],
  left: Map<string, number>,
  limitedAccountOf: (laneId: string) => string | null,
): LaneRequest[] {
  const allowed = new Map(requests.map((request) => [request, 0]));
  let wanting = [...requests];
  while (wanting.length > 0) {
    wanting = wanting.filter((request) => {
      const accountId = limitedAccountOf(request.id);
      if (accountId === null) {
        allowed.set(request, request.take);
        return false;
      }
      const given = allowed.get(request) ?? 0;
      const rest = left.get(accountId) ?? 0;
      if (rest === 0 || given === request.take) return false;
      left.set(accountId, rest - 1);
      allowed.set(request, given + 1);
      return true;
    });
  }
  return [...allowed].flatMap(([request, take]) =>
    take === 0 ? [] : [{ ...request, take, recovered: Math.min(request.recovered, take) }],
  );
}

/** What is requested of each account that has a limit. */
function countByAccount(
  requests: readonly LaneRequest[],
  limitedAccountOf: (laneId: string) => string | null,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { id, take } of requests) {
    const accountId = limitedAccountOf(id);
    if (accountId !== null) counts.set(accountId, (counts.get(accountId) ?? 0) + take);
  }
  return counts;
}
