import type { Logger } from '@pixmesh/telemetry/logger';
import { counter, durationHistogram, observedGauge, sharedFor } from '@pixmesh/telemetry/metrics';

import { ROLES } from '#config.ts';
import type { ExchangeResult } from '#exchange/exchange.ts';
import type { DueLanes } from '#lanes/count-due-lanes.sql.ts';

const attempts = counter('webhook_attempts_total', 'Attempts by outcome and reason', [
  { outcome: 'succeeded', reason: 'none' },
  // An alert sees the first.
  { outcome: 'failed', reason: 'secret_unreadable' },
]);
const repeats = counter(
  'webhook_repeated_sends_total',
  'Sends that may repeat a request, because the lane was taken over from a sender that had not released it',
);
const takenOver = counter(
  'webhook_lanes_taken_over_total',
  'Lanes claimed after the lease of another sender had ended',
);
const lostLanes = counter(
  'webhook_lanes_lost_total',
  'Lanes that another sender took over from this one',
);
const lost = counter(
  'webhook_outcomes_lost_total',
  'Attempts that could not be recorded, by cause',
  [{ cause: 'fenced' }, { cause: 'unstorable' }],
);
const lateSends = counter(
  'webhook_late_sends_total',
  'Deliveries left for later because too little of the lease of their lane was left',
);
const firstAttempt = durationHistogram(
  'webhook_event_to_first_attempt_seconds',
  'From the event in its service to the beginning of the first attempt',
);

/** Ids and codes only: the URL's query may be a secret of the merchant's, the body is personal data. */
export function attemptMade(
  logger: Logger,
  attempt: { deliveryId: string; event: string; attemptNumber: number },
  result: ExchangeResult,
): void {
  const { outcome, reason, status, durationMs } = result;
  attempts.add(1, { outcome, reason: reason ?? 'none' });
  logger.debug(
    {
      delivery_id: attempt.deliveryId,
      event: attempt.event,
      attempt: attempt.attemptNumber,
      outcome,
      reason,
      status,
      duration_ms: durationMs,
    },
    'delivery attempt made',
  );
}

export function firstAttemptStarted(secondsSinceEvent: number): void {
  firstAttempt.record(Math.max(0, secondsSinceEvent));
}

export function sendsRepeated(count: number): void {
  repeats.add(count);
}

export function lanesTakenOver(logger: Logger, laneIds: readonly string[]): void {
  if (laneIds.length === 0) return;
  takenOver.add(laneIds.length);
  logger.info({ lane_ids: laneIds }, 'lanes taken over from a sender whose lease had ended');
}

export function laneLost(logger: Logger, laneId: string): void {
  lostLanes.add(1);
  logger.warn({ lane_id: laneId }, 'lane lost to another sender');
}

/** `fenced`: another claim has the lane. `unstorable`: the row itself cannot be stored. */
export function outcomesLost(cause: 'fenced' | 'unstorable', count: number): void {
  lost.add(count, { cause });
}

export function sendLeftForLater(): void {
  lateSends.add(1);
}

/** What the gauges read of a lane that is served. */
type ServedLane = { readonly inFlight: ReadonlySet<string>; probeAtMs: number | null };

/** Gauges of a process that sends, read at each scrape. */
export function observeSender(deps: {
  state(): { slotsUsed: number; slotsMax: number };
  lanes(): Iterable<ServedLane>;
  accounts(): { reached: number; unreached: number };
}): void {
  observedGauge('webhook_in_flight', 'Sends in flight in this process', async () => [
    { value: deps.state().slotsUsed },
  ]);
  observedGauge('webhook_slots', 'Sends that this process may have in flight', async () => [
    { value: deps.state().slotsMax },
  ]);
  observedGauge('webhook_lanes', 'Lanes served by this process, by state', async () => {
    const count = { idle: 0, sending: 0, open: 0 };
    for (const lane of deps.lanes()) count[stateOf(lane)] += 1;
    return Object.entries(count).map(([state, value]) => ({ value, attributes: { state } }));
  });
  observedGauge(
    'webhook_tried_accounts',
    'Accounts to which this process has sent within five minutes, by whether a receiver of theirs was reached',
    async () => {
      const { reached, unreached } = deps.accounts();
      return [
        { value: reached, attributes: { reached: 'yes' } },
        { value: unreached, attributes: { reached: 'no' } },
      ];
    },
  );
}

/**
 * What waits, as the database and the broker say it. `eventsWaiting`: messages in the topics that no intake has taken
 * in; null while the broker does not say. `setAside`: events that are taken in and not fanned out.
 */
export type Backlog = DueLanes & { eventsWaiting: number | null; setAside: SetAside };

export type SetAside = {
  /** Events, up to a bound. */
  count: number;
  /** How long ago the oldest of them happened, of up to a thousand accounts; 0 where there is none. */
  oldestSeconds: number;
};

/** Gauges that every process has, whatever its roles: they say the same wherever they are read. */
export function observeBacklog(deps: {
  readBacklog(): Promise<Backlog>;
  listProcesses(): Promise<readonly { roles: readonly string[] }[]>;
}): void {
  const readBacklog = sharedFor(SCRAPE_MS, deps.readBacklog);
  observedGauge('webhook_processes', 'Processes of this service that live, by role', async () => {
    const running = (await deps.listProcesses()).flatMap(({ roles }) => roles);
    // A role that no process has is 0 and not absent: that none lives is what has to be seen.
    return ROLES.map((role) => ({
      value: running.filter((one) => one === role).length,
      attributes: { role },
    }));
  });
  observedGauge(
    'webhook_waiting_events',
    'Messages in the topics that no intake has taken in; absent while the broker does not say',
    async () => {
      const { eventsWaiting } = await readBacklog();
      return eventsWaiting === null ? [] : [{ value: eventsWaiting }];
    },
  );
  observedGauge(
    'webhook_set_aside_events',
    'Events that are taken in and whose deliveries are stored in a later turn of their account, up to a bound',
    async () => [{ value: (await readBacklog()).setAside.count }],
  );
  observedGauge(
    'webhook_oldest_set_aside_age_seconds',
    'How long ago the oldest event happened that is set aside',
    async () => [{ value: (await readBacklog()).setAside.oldestSeconds }],
  );
  observedGauge(
    'webhook_due_lanes',
    'Lanes in which something is due and which no sender serves, up to a bound, but for those of limited accounts',
    async () => [{ value: (await readBacklog()).count }],
  );
  observedGauge(
    'webhook_oldest_due_age_seconds',
    'For how long something has been due: in lanes that wait for a sender, in those of limited accounts, and of first attempts in lanes that are served',
    async () => {
      const due = await readBacklog();
      return [
        { value: due.oldestWaitingSeconds, attributes: { lane: 'waiting' } },
        { value: due.oldestLimitedSeconds, attributes: { lane: 'limited' } },
        { value: due.oldestServedSeconds, attributes: { lane: 'served' } },
      ];
    },
  );
}

/** Gauges of one scrape are read within this time, and share one answer. */
const SCRAPE_MS = 500;

/** `open`: its breaker is. */
function stateOf(lane: ServedLane): 'idle' | 'sending' | 'open' {
  if (lane.probeAtMs !== null) return 'open';
  return lane.inFlight.size > 0 ? 'sending' : 'idle';
}
