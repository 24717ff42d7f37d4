import { setTimeout as delay } from 'node:timers/promises';

import type { AccountBreak } from '@pixmesh/contracts/internal/account-breaks';
import type { FullRun, ReconciliationReport } from '@pixmesh/contracts/internal/reconciliation';
import { AppError } from '@pixmesh/kernel/app-error';
import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { type NextTurn, startPollingLoop } from '@pixmesh/service/polling-loop';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import type { Logger } from '@pixmesh/telemetry/logger';
import { observedGauge, sharedFor } from '@pixmesh/telemetry/metrics';

import { readAccountBreaks } from './account-breaks.sql.ts';
import type { Check } from './check.ts';
import { readFigures } from './figures.sql.ts';
import { requestFullRun, takeFullLease, takeIncrementalLease } from './leases.sql.ts';
import { readReport, type StoredFullRun } from './report.sql.ts';
import { readIncrementalChecks } from './runs.sql.ts';
import { type LeasedDeps, runUnderLease } from './run-under-lease.ts';

/** Two systems that are under load have caught up with each other after this, or after their window. */
const CONFIRM_MS_MAX = 5_000;
/** How often a replica asks whether a run is due: a sixtieth of the interval, from 1 to 5 s. */
const POLL_MS = { min: 1_000, max: 5_000, part: 1 / 60 };
/** How long a run on request waits for one that is under way. */
const RUN_NOW_WAIT_MS = 30_000;
const RUN_NOW_POLL_MS = 100;
/** Gauges of one scrape share an answer. */
const SCRAPE_MS = 1_000;

/** How long a request waits for the full run that it asks for: shorter than the gateway waits for an answer. */
const FULL_WAIT_MS = 20_000;

export type ReconciliationOptions = {
  db: Database;
  logger: Logger;
  service: string;
  checks: readonly Check[];
  /** Between incremental runs. */
  intervalMs: number;
  /** Between full runs of a check; its first run compares everything too. */
  fullIntervalMs: number;
  /** Younger differences are no breaks yet, where a check does not say otherwise. */
  windowMs: number;
};

export type Reconciliation = AsyncDisposable & {
  /** The newest finished run, by whichever replica. */
  latest(): Promise<ReconciliationReport>;
  /**
   * Runs all checks now, incrementally, and answers their report.
   * @throws AppError `CONFLICT` when another run is under way and does not end soon
   */
  runNow(): Promise<ReconciliationReport>;
  /**
   * Stores the request of a full run, which may take any time, and answers the report as it is when that has ended, or
   * after `waitMs`: then it says how far the run is.
   */
  requestFull(waitMs?: number): Promise<ReconciliationReport>;
  /** Its breaks that name the account whose books they are about. */
  accountBreaks(): Promise<AccountBreak[]>;
};

/**
 * Compares a service's records with those of others for as long as the process lives: incrementally at every interval,
 * and in full daily, beside them. The first run of a check compares everything: in a new installation that is an
 * incremental one. One replica makes the incremental runs at a time, and one the full runs.
 */
export function startReconciliation(options: ReconciliationOptions): Reconciliation {
  const { db, logger, checks, windowMs } = options;
  const runDeps = { ...options, confirmMs: Math.min(windowMs, CONFIRM_MS_MAX) };
  const stopping = new AbortController();
  const ongoing = new Set<Promise<unknown>>();
  const pollMs = pollMsOf(options.intervalMs);
  const requested = createWakeSignal();
  const loops = [
    startPollingLoop({ name: 'reconciliation', logger, turn }),
    startPollingLoop({ name: 'reconciliation in full', logger, turn: fullTurn, signal: requested }),
  ];
  observeFigures(options);
  return {
    latest: () => latest(options),
    runNow: async () => {
      await follow(runNow());
      return await latest(options);
    },
    requestFull: async (waitMs = FULL_WAIT_MS) => {
      await requestFullRun(db);
      requested.notify();
      return await latestFull(waitMs);
    },
    accountBreaks: () => readAccountBreaks(db, namesOf(checks)),
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()));
      await Promise.allSettled(ongoing);
    },
  };

  async function turn(): Promise<NextTurn> {
    const token = newId();
    if (await takeIncrementalLease(db, { token, evenIfNotDue: false }))
      await runIncrementally(token);
    return { pauseMs: pollMs };
  }

  async function runIncrementally(token: string): Promise<void> {
    const lease = { kind: 'incremental', token } as const;
    const names = await readIncrementalChecks(db, namesOf(checks));
    const due = checks.filter(({ name }) => names.includes(name));
    await runUnderLease(runDeps, { lease, checks: due, stopping: stopping.signal });
  }

  async function fullTurn(): Promise<NextTurn> {
    await runFullIfDue(runDeps, stopping.signal);
    return { pauseMs: pollMs };
  }

  async function runNow(): Promise<void> {
    const token = newId();
    await waitForLease(db, token, stopping.signal);
    await runIncrementally(token);
  }

  async function latestFull(waitMs: number): Promise<ReconciliationReport> {
    const end = performance.now() + waitMs;
    for (;;) {
      const report = await latest(options);
      const isDue = performance.now() < end && !stopping.signal.aborted;
      if (report.full_run === null || !isDue) return report;
      await delay(RUN_NOW_POLL_MS);
    }
  }

  async function follow(work: Promise<void>): Promise<void> {
    ongoing.add(work);
    await work.finally(() => ongoing.delete(work));
  }
}

/** @throws AppError `CONFLICT` where another run is still under way after the wait */
async function waitForLease(db: Database, token: string, stopping: AbortSignal): Promise<void> {
  const end = performance.now() + RUN_NOW_WAIT_MS;
  while (!(await takeIncrementalLease(db, { token, evenIfNotDue: true }))) {
    if (performance.now() > end || stopping.aborted) {
      throw new AppError('CONFLICT', { message: 'another run of reconciliation is under way' });
    }
    await delay(RUN_NOW_POLL_MS);
  }
}

async function runFullIfDue(
  deps: ReconciliationOptions & LeasedDeps,
  stopping: AbortSignal,
): Promise<void> {
  const { db, checks, fullIntervalMs, intervalMs } = deps;
  const token = newId();
  const lease = { token, names: namesOf(checks), fullIntervalMs, intervalMs };
  const taken = await takeFullLease(db, lease);
  if (taken === null) return;
  const due = checks.filter(({ name }) => taken.includes(name));
  await runUnderLease(deps, { lease: { kind: 'full', token }, checks: due, stopping });
}

function namesOf(checks: readonly Check[]): string[] {
  return checks.map(({ name }) => name);
}

function pollMsOf(intervalMs: number): number {
  const aPart = Math.min(POLL_MS.max, intervalMs * POLL_MS.part);
  return Math.min(intervalMs, Math.max(POLL_MS.min, aPart));
}

async function latest(options: ReconciliationOptions): Promise<ReconciliationReport> {
  const report = await readReport(options.db);
  const compared = new Map(report.checks.map((check) => [check.name, check.compared]));
  // One that has never run is not there: without differences it would look clean.
  const shown = new Set([...compared.keys(), ...report.breaks.map(({ checkName }) => checkName)]);
  const isFinished = report.finishedAt !== null;
  return {
    service: options.service,
    checked_at: report.finishedAt?.toISOString() ?? null,
    full_run: report.fullRun && toFullRun(report.fullRun),
    checks: (isFinished ? options.checks.filter(({ name }) => shown.has(name)) : []).map(
      ({ name }) => ({
        name,
        compared: compared.get(name) ?? 0,
        breaks: report.breaks
          .filter((item) => item.checkName === name)
          .map(({ kind, id, expected, found, amount, since }) => ({
            kind,
            id,
            expected,
            found,
            amount: amount === null ? null : Number(amount),
            since: since.toISOString(),
          })),
      }),
    ),
  };
}

function toFullRun({ requestedAt, startedAt, compared }: StoredFullRun): FullRun {
  return {
    requested_at: requestedAt.toISOString(),
    started_at: startedAt?.toISOString() ?? null,
    compared,
  };
}

function observeFigures({ db, checks }: ReconciliationOptions): void {
  const figures = sharedFor(SCRAPE_MS, () => readFigures(db, namesOf(checks)));
  observedGauge(
    'reconciliation_breaks',
    'Breaks past their window, by check and kind',
    async () => {
      const { counts } = await figures();
      return counts.map(({ check, kind, count }) => ({
        value: count,
        attributes: { check, kind },
      }));
    },
  );
  observedGauge(
    'reconciliation_age_seconds',
    'Time since the last finished incremental run; before the first, since it is due',
    async () => [{ value: (await figures()).ageSeconds }],
  );
  observedGauge(
    'reconciliation_full_age_seconds',
    'Time since the newest full run of the check whose newest one is the oldest',
    async () => {
      const { fullAgeSeconds } = await figures();
      return fullAgeSeconds === null ? [] : [{ value: fullAgeSeconds }];
    },
  );
}
