import { newId } from '@pixmesh/kernel/ids';
import { createLogger } from '@pixmesh/telemetry/logger';
import { recordSpans } from '@pixmesh/telemetry/testing/recorded-spans';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';

import type { ExchangeResult } from '#exchange/exchange.ts';
import { BREAKER_THRESHOLD, PROBE_INTERVAL_MS, toOwnedLane } from '#lanes/owned-lane.ts';

import type { DueDelivery } from './due-delivery.ts';
import { createOpenedSecrets } from './opened-secrets.ts';
import type { Outcome } from './outcome-store.ts';
import { createReachedAccounts } from './reached-accounts.ts';
import { RETRY_DELAYS_MS } from './retry-schedule.ts';
import { type DeliveryToSend, sendDelivery } from './send-delivery.ts';

const STORED = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const STORED_TRACE = STORED.split('-')[1];
const LEASE_LEFT_MS_MIN = 11_000;

const recorded = recordSpans();

beforeEach(() => recorded.forget());
afterAll(() => recorded.stop());

const ANSWERED: ExchangeResult = {
  outcome: 'failed',
  reason: 'status',
  status: 500,
  error: 'status: answered 500',
  responseExcerpt: '',
  address: '127.0.0.1',
  durationMs: 3,
};

function aDue(changes: Partial<DueDelivery> = {}): DueDelivery {
  const deliveryId = newId();
  return {
    queueId: deliveryId,
    deliveryId,
    laneId: newId(),
    endpointId: null,
    rank: 0,
    isResend: false,
    recoveryId: null,
    attemptNumber: 1,
    accountId: newId(),
    event: 'charge.pix.paid',
    url: 'http://shop.receiver.example.com/hook',
    sealedSecret: null,
    secretOwnerId: newId(),
    bodyRest: Buffer.from(',"object":"event"}'),
    traceparent: STORED,
    fetchedAtMs: Date.now(),
    eventAgeSeconds: 0,
    ...changes,
  };
}

async function send(
  due: DueDelivery,
  { leaseMs = 13_000, failureCount = 0, result = ANSWERED } = {},
): Promise<{ posted: number; failuresAtAnswer: number[]; outcomes: Outcome[] }> {
  const outcomes: Outcome[] = [];
  const failuresAtAnswer: number[] = [];
  let posted = 0;
  const claim = {
    id: due.laneId,
    accountId: due.accountId,
    fence: 1n,
    failureCount,
    probeInMs: null,
    isTakenOver: false,
  };
  const deps = {
    exchange: {
      post: async () => {
        posted += 1;
        return result;
      },
    },
    recorder: { record: async (outcome: Outcome) => void outcomes.push(outcome) },
    logger: createLogger('test', 'silent'),
    secrets: createOpenedSecrets('{}'),
    reached: createReachedAccounts(),
    leaseLeftMsMin: LEASE_LEFT_MS_MIN,
    onAnswer: ({ lane }: DeliveryToSend) => {
      expect(outcomes).toEqual([]);
      failuresAtAnswer.push(lane.failureCount);
    },
  };
  const nowMs = performance.now();
  const lane = toOwnedLane(claim, nowMs + leaseMs);
  await sendDelivery(deps, { due, lane, fetchedMs: nowMs, wasRateLimited: false });
  return { posted, failuresAtAnswer, outcomes };
}

describe('a send', () => {
  test('does not begin with too little of the lease left, and records nothing', async () => {
    const late = await send(aDue(), { leaseMs: LEASE_LEFT_MS_MIN - 1 });
    expect(late).toEqual({ posted: 0, failuresAtAnswer: [], outcomes: [] });
    expect((await send(aDue(), { leaseMs: LEASE_LEFT_MS_MIN + 1_000 })).posted).toBe(1);
  });

  test('counts for the breaker before its slot is free, and its slot is free before its outcome is recorded', async () => {
    const { failuresAtAnswer, outcomes } = await send(aDue(), { failureCount: 4 });
    expect(failuresAtAnswer).toEqual([5]);
    expect(outcomes).toHaveLength(1);
  });

  test('is followed by the next attempt of its schedule, a re-send by none', async () => {
    const second = await send(aDue({ attemptNumber: 2 }));
    expect(second.outcomes[0]?.attempt.retryDelayMs).toBe(RETRY_DELAYS_MS[1]);
    const again = await send(aDue({ isResend: true }));
    expect(again.outcomes[0]?.attempt.retryDelayMs).toBeNull();
  });

  test('never begins before its delivery, which the database rounds', async () => {
    const atMs = Date.now();
    const { outcomes } = await send(aDue({ fetchedAtMs: atMs + 0.6 }));
    expect(outcomes[0]!.attempt.startedAt.getTime()).toBeGreaterThan(atMs);
  });

  test('changes the row of its lane when the breaker moves', async () => {
    const opens = await send(aDue(), { failureCount: BREAKER_THRESHOLD - 1 });
    expect(opens.outcomes[0]?.lane).toMatchObject({
      failureCount: BREAKER_THRESHOLD,
      probeDelayMs: PROBE_INTERVAL_MS,
    });
    const succeeded = { ...ANSWERED, outcome: 'succeeded', reason: null } as const;
    const closes = await send(aDue(), { failureCount: 12, result: succeeded });
    expect(closes.outcomes[0]?.lane).toMatchObject({ failureCount: 0, probeDelayMs: null });
    expect((await send(aDue(), { result: succeeded })).outcomes[0]?.lane).toBeNull();
  });

  test('under a secret that cannot be opened fails unsent, and is no failure of the receiver', async () => {
    const { posted, outcomes } = await send(aDue({ sealedSecret: 'sealed.v1.nonsense' }));
    expect(posted).toBe(0);
    expect(outcomes).toMatchObject([
      {
        attempt: { outcome: 'failed', error: expect.stringMatching(/^secret_unreadable/) },
        lane: null,
      },
    ]);
  });
});

describe('the span of an attempt', () => {
  test('continues the trace of its event where it is the first', async () => {
    await send(aDue());
    const [span] = recorded.ended();
    expect(span?.spanContext().traceId).toBe(STORED_TRACE);
    expect(span?.links).toEqual([]);
  });

  test.each([{ attemptNumber: 2 }, { isResend: true }])(
    'is a trace of its own with a link to it where it is a later one: %o',
    async (changes) => {
      await send(aDue(changes));
      const [span] = recorded.ended();
      expect(span?.spanContext().traceId).not.toBe(STORED_TRACE);
      expect(span?.links.map((link) => link.context.traceId)).toEqual([STORED_TRACE]);
    },
  );
});
