import { newId } from '@pixmesh/kernel/ids';
import type { Logger } from '@pixmesh/telemetry/logger';
import { withSpan } from '@pixmesh/telemetry/tracing';

import { bodyOf } from '#deliveries/build-body.ts';
import { attemptMade, firstAttemptStarted, sendLeftForLater } from '#reports.ts';
import { AttemptFailure } from '#exchange/attempt-failure.ts';
import type { Exchange, ExchangeResult } from '#exchange/exchange.ts';
import { failpoint } from '#failpoints.ts';
import { countAttempt, type OwnedLane, PROBE_INTERVAL_MS } from '#lanes/owned-lane.ts';

import { deliveryHeaders } from './delivery-headers.ts';
import type { DueDelivery } from './due-delivery.ts';
import type { OpenedSecrets } from './opened-secrets.ts';
import type { OutcomeRecorder } from './outcome-recorder.ts';
import type { ReachedAccounts } from './reached-accounts.ts';
import type { AttemptOutcome, LaneChange } from './record-outcomes.sql.ts';
import { redactSecret } from './redact-secret.ts';
import { retryDelayMs } from './retry-schedule.ts';

export type SendDeps = {
  exchange: Pick<Exchange, 'post'>;
  recorder: Pick<OutcomeRecorder, 'record'>;
  logger: Logger;
  secrets: OpenedSecrets;
  reached: Pick<ReachedAccounts, 'note'>;
  /** What must be left of the lane's lease for a request to begin. */
  leaseLeftMsMin: number;
  /** Called once the receiver has answered, or did not in time, and that is counted: it may have another request. */
  onAnswer(send: DeliveryToSend): void;
};

/**
 * What is to be sent, under which claim, when by the process's own clock it was fetched, and whether it has waited for
 * the limit of its account.
 */
export type DeliveryToSend = {
  due: DueDelivery;
  lane: OwnedLane;
  fetchedMs: number;
  wasRateLimited: boolean;
};

/**
 * Makes one attempt and records it with the state that follows, under the claim of its lane. No connection to the
 * database is held meanwhile. If the process ends on the way, the lane's lease ends too and another sender sends the
 * same bytes under the same id.
 */
export async function sendDelivery(deps: SendDeps, send: DeliveryToSend): Promise<void> {
  const { due, lane } = send;
  await failpoint('webhooks.send.after-claim');
  const startedMs = performance.now();
  if (lane.leaseEndsMs - startedMs < deps.leaseLeftMsMin) return sendLeftForLater();
  const waitedMs = startedMs - send.fetchedMs;
  // How long a delivery waits for the limit of its account is not of our making.
  if (isFirstAttempt(due) && !send.wasRateLimited) {
    firstAttemptStarted(due.eventAgeSeconds + waitedMs / 1000);
  }
  const result = await post(deps, due);
  deps.reached.note(due.accountId, result.reason);
  if (result.outcome === 'succeeded') await failpoint('webhooks.send.after-2xx');
  const attempt = toOutcome(send, result, startOf(due.fetchedAtMs + waitedMs));
  const change = moveBreaker(lane, result);
  deps.onAnswer(send);
  await deps.recorder.record({ attempt, lane: change });
}

/**
 * In whole milliseconds, rounded as the database rounds its columns: cut off, an attempt may be from before its
 * delivery.
 */
function startOf(databaseMs: number): Date {
  return new Date(Math.round(databaseMs));
}

/** Whether it is the first of its schedule. */
function isFirstAttempt({ attemptNumber, isResend }: DueDelivery): boolean {
  return attemptNumber === 1 && !isResend;
}

function toOutcome(
  { due, lane }: DeliveryToSend,
  result: ExchangeResult,
  startedAt: Date,
): AttemptOutcome {
  const isRetried = result.outcome === 'failed' && !due.isResend;
  return {
    attemptId: newId(),
    deliveryId: due.deliveryId,
    queueId: due.queueId,
    laneId: lane.id,
    fence: lane.fence,
    endpointId: due.endpointId,
    isResend: due.isResend,
    attemptNumber: due.attemptNumber,
    recoveryId: due.recoveryId,
    startedAt,
    durationMs: result.durationMs,
    outcome: result.outcome,
    status: result.status,
    error: result.error,
    responseExcerpt: result.responseExcerpt,
    address: result.address,
    retryDelayMs: isRetried ? retryDelayMs(due.attemptNumber) : null,
  };
}

/** Null where the lane's row need not change. A secret that cannot be opened is no fault of the receiver. */
function moveBreaker(lane: OwnedLane, result: ExchangeResult): LaneChange | null {
  if (result.reason === 'secret_unreadable') return null;
  if (!countAttempt(lane, result.outcome === 'succeeded', performance.now())) return null;
  return {
    laneId: lane.id,
    fence: lane.fence,
    failureCount: lane.failureCount,
    probeDelayMs: lane.probeAtMs === null ? null : PROBE_INTERVAL_MS,
  };
}

/**
 * The first attempt is a child of the trace that the delivery was stored in, so that one trace goes from the merchant's
 * request to it. Later ones, up to a day after, are traces of their own that link to it.
 */
async function post(deps: SendDeps, due: DueDelivery): Promise<ExchangeResult> {
  const origin = isFirstAttempt(due)
    ? { parent: due.traceparent }
    : { parent: null, link: due.traceparent };
  const attributes = {
    'http.request.method': 'POST',
    'webhook.delivery_id': due.deliveryId,
    'webhook.event': due.event,
    'webhook.attempt': due.attemptNumber,
    'webhook.manual': due.isResend,
  };
  const options = { kind: 'client', ...origin, attributes } as const;
  return await withSpan('deliver webhook', options, async (span) => {
    const result = await signAndPost(deps, due);
    attemptMade(deps.logger, due, result);
    span.setAttribute('webhook.outcome', result.outcome);
    if (result.status !== null) span.setAttribute('http.response.status_code', result.status);
    if (result.reason !== null) span.setAttribute('error.type', result.reason);
    return result;
  });
}

/** A secret that cannot be opened fails the attempt: never downgrade to an unsigned request. */
async function signAndPost(deps: SendDeps, due: DueDelivery): Promise<ExchangeResult> {
  const secret = readSecret(deps, due);
  if (secret instanceof AttemptFailure) return notSent(secret);
  const body = bodyOf(due.deliveryId, due.bodyRest);
  const headers = deliveryHeaders({ id: due.deliveryId, event: due.event, body, secret });
  const result = await deps.exchange.post({ url: due.url, headers, body });
  if (secret === null || result.responseExcerpt === null) return result;
  return { ...result, responseExcerpt: redactSecret(result.responseExcerpt, secret) };
}

/** The seal is bound to the account and to whose secret it is, the endpoint or the resource (decision 209). */
function readSecret(deps: SendDeps, due: DueDelivery): string | null | AttemptFailure {
  if (due.sealedSecret === null) return null;
  try {
    return deps.secrets.open(due.sealedSecret, `${due.accountId}/${due.secretOwnerId}`);
  } catch (cause) {
    return new AttemptFailure('secret_unreadable', 'the webhook secret cannot be opened', {
      cause,
    });
  }
}

function notSent(failure: AttemptFailure): ExchangeResult {
  return {
    outcome: 'failed',
    reason: failure.reason,
    status: null,
    error: `${failure.reason}: ${failure.message}`,
    responseExcerpt: null,
    address: null,
    durationMs: 0,
  };
}
