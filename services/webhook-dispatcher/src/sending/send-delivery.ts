import { failpoint } from '@pixmesh/http/failpoints';
import { openSecret } from '@pixmesh/kernel/sealed-secret';
import type { Logger } from '@pixmesh/telemetry/logger';
import { withSpan } from '@pixmesh/telemetry/tracing';

import { attemptMade, firstAttemptStarted, sendAbandoned } from '#events.ts';
import { AttemptFailure } from '#exchange/attempt-failure.ts';
import { deliveryHeaders } from '#exchange/delivery-headers.ts';
import type { Exchange, ExchangeResult } from '#exchange/exchange.ts';

import type { ClaimedDelivery } from './claim-deliveries.sql.ts';
import type { OutcomeRecorder } from './outcome-recorder.ts';
import { nextStep } from './retry-schedule.ts';

export type SendDeps = {
  exchange: Pick<Exchange, 'post'>;
  recorder: Pick<OutcomeRecorder, 'record'>;
  logger: Logger;
  /** JSON of key versions and private keys. */
  sealingPrivateKeys: string;
  /** Part of a lease within which a request may still begin and end before the lease does. */
  startWithinMs: number;
};

/** A claimed delivery and when, by the process's own clock, its claim was asked for and answered. */
export type DeliveryToSend = ClaimedDelivery & { askedMs: number; answeredMs: number };

/**
 * Makes one attempt and records it with the state that follows, under the claim's fence. No connection to
 * the database is held meanwhile. If the process ends on the way, the lease ends too and another sender
 * sends the same bytes under the same id.
 */
export async function sendDelivery(deps: SendDeps, delivery: DeliveryToSend): Promise<void> {
  await failpoint('webhooks.send.after-claim');
  if (performance.now() - delivery.askedMs > deps.startWithinMs) return sendAbandoned();
  const waitedMs = performance.now() - delivery.answeredMs;
  if (delivery.attemptNumber === 1) firstAttemptStarted(delivery.eventAgeSeconds + waitedMs / 1000);
  const result = await post(deps, delivery);
  attemptMade(deps.logger, delivery, result);
  if (result.outcome === 'succeeded') await failpoint('webhooks.send.after-2xx');
  const next = nextStep(delivery.attemptNumber, result.outcome);
  await deps.recorder.record({
    deliveryId: delivery.id,
    fence: delivery.fence,
    startedAt: new Date(delivery.claimedAt.getTime() + waitedMs),
    durationMs: result.durationMs,
    outcome: result.outcome,
    status: result.status,
    error: result.error,
    responseExcerpt: result.responseExcerpt,
    address: result.address,
    nextStatus: next.status,
    retryDelayMs: next.status === 'pending' ? next.delayMs : null,
  });
}

/**
 * Every attempt is a child of the trace that the delivery was stored in, retries after hours included: one
 * trace shows a delivery whole, from the merchant's request to its last attempt.
 */
async function post(deps: SendDeps, delivery: DeliveryToSend): Promise<ExchangeResult> {
  const attributes = {
    'http.request.method': 'POST',
    'webhook.delivery_id': delivery.id,
    'webhook.event': delivery.event,
    'webhook.attempt': delivery.attemptNumber,
  };
  const options = { kind: 'client', parent: delivery.traceparent, attributes } as const;
  return await withSpan('deliver webhook', options, async (span) => {
    const result = await signAndPost(deps, delivery);
    span.setAttribute('webhook.outcome', result.outcome);
    if (result.status !== null) span.setAttribute('http.response.status_code', result.status);
    if (result.reason !== null) span.setAttribute('error.type', result.reason);
    return result;
  });
}

/** A secret that cannot be opened fails the attempt: never downgrade to an unsigned request. */
async function signAndPost(deps: SendDeps, delivery: DeliveryToSend): Promise<ExchangeResult> {
  const secret = readSecret(deps, delivery);
  if (secret instanceof AttemptFailure) return notSent(secret);
  const headers = deliveryHeaders({ ...delivery, secret });
  const result = await deps.exchange.post({ url: delivery.url, headers, body: delivery.body });
  return { ...result, responseExcerpt: withoutSecret(result.responseExcerpt, secret) };
}

/** The seal is bound to the account and to whose secret it is, the endpoint or the resource (decision 209). */
function readSecret(deps: SendDeps, delivery: DeliveryToSend): string | null | AttemptFailure {
  if (delivery.sealedSecret === null) return null;
  const owner = `${delivery.accountId}/${delivery.secretOwnerId}`;
  try {
    return openSecret(deps.sealingPrivateKeys, delivery.sealedSecret, owner);
  } catch (cause) {
    return new AttemptFailure('secret_unreadable', 'the webhook secret cannot be opened', {
      cause,
    });
  }
}

/** A receiver that answers with its own secret must not bring it into our tables. */
function withoutSecret(excerpt: string | null, secret: string | null): string | null {
  return excerpt !== null && secret !== null ? excerpt.replaceAll(secret, '[redacted]') : excerpt;
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
