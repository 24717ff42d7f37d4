import { newId } from '@pixmesh/kernel/ids';
import { startTimeLimit } from '@pixmesh/kernel/time-limit';
import type { Logger } from '@pixmesh/telemetry/logger';

import { countUnsharedRequest, reportLimitsShared, reportLimitsUnshared } from '#reports.ts';

import type { CountedLimits } from './limits-of.ts';
import { LocalCounts, type Verdict } from './local-counts.ts';
import type { RedisCounts } from './redis-counts.ts';
import { createRenewals, type Renewals } from './renew-in-flight.ts';

/** After a failure nobody asks for this long, so that a hanging Redis costs one request, not every one, its wait. */
const REST_MS = 1_000;

type CountersOptions = {
  /** Null where no Redis is configured: then each process counts by itself. */
  redis: RedisCounts | null;
  logger: Logger;
  /** How long Redis is waited for at most. */
  timeoutMs: number;
};

/** An admitted request gives back its place by `end`. */
export type Admission = Exclude<Verdict, { kind: 'within' }> | { kind: 'admitted'; end(): void };

/**
 * Counts requests against limits, over all gateways by Redis. Where that is away, slow or wrong, each process goes by
 * what it has let pass itself: an outage refuses nobody who is within a limit, costs at most one short wait,
 * is counted, and is logged once.
 */
export class RequestCounters implements AsyncDisposable {
  readonly #options: CountersOptions;
  readonly #local = new LocalCounts();
  /** Null where no Redis is configured. */
  readonly #renewals: Renewals | null;
  #isAway = false;
  #restUntilMs = 0;

  constructor(options: CountersOptions) {
    this.#options = options;
    const { redis } = options;
    this.#renewals =
      redis &&
      createRenewals({
        leaseMs: redis.leaseMs,
        requestsInFlight: (counter) => this.#local.requestsInFlight(counter),
        hold: redis.hold,
      });
  }

  /**
   * Never throws and never waits long. What is exceeded holds no place. What this process has in flight counts where
   * Redis knows of less.
   */
  async admit(limits: CountedLimits): Promise<Admission> {
    const requestId = newId();
    this.#renewals?.follow(limits);
    if (limits.windows.length + limits.flights.length === 0) return this.#begin(limits, requestId);
    const { redis } = this.#options;
    let isAsked = false;
    // What is refused here is not asked about: Redis would count it in its window.
    const isRefusedHere = this.#local.flightVerdict(limits).kind === 'exceeded';
    const shared = isRefusedHere
      ? null
      : await this.#ask((counts) => {
          isAsked = true;
          return counts.admit(limits, requestId);
        });
    const verdict = this.#verdict(limits, shared);
    if (verdict.kind !== 'exceeded') return this.#begin(limits, requestId);
    // Redis may still admit, late, what it was asked about. In its window the request stays counted.
    if (isAsked && shared?.kind !== 'exceeded') {
      const counters = limits.flights.map(({ counter }) => counter);
      redis?.end(counters, requestId);
    }
    return verdict;
  }

  #verdict(limits: CountedLimits, shared: Verdict | null): Verdict {
    if (shared === null) return this.#local.verdict(limits);
    return shared.kind === 'within' ? this.#local.flightVerdict(limits) : shared;
  }

  #begin(limits: CountedLimits, requestId: string): Admission {
    this.#local.begin(limits, requestId);
    this.#renewals?.keep(limits);
    return {
      kind: 'admitted',
      end: () => {
        this.#local.end(limits, requestId);
        this.#options.redis?.end(this.#toldOf(limits), requestId);
      },
    };
  }

  /** Where Redis may hold the request: under the limits it had, and under those that were set since. */
  #toldOf({ flights, inFlight }: CountedLimits): string[] {
    const limited = new Set(flights.map(({ counter }) => counter));
    return inFlight.filter((counter) => limited.has(counter) || this.#renewals?.follows(counter));
  }

  /**
   * What is counted now: by all gateways, or, where Redis is away, by this one; and what this one has in flight, which
   * is all that is known where there is no limit. An answer for hundreds of counters may come late; requests are counted
   * with Redis all the same.
   */
  async used(counters: { windows: readonly string[]; flights: readonly string[] }) {
    const { windows, flights } = counters;
    const shared = await this.#read(async (counts) => ({
      windows: await Promise.all(windows.map(counts.inWindow)),
      flights: await Promise.all(flights.map(counts.inFlight)),
    }));
    const here = flights.map((counter) => this.#local.inFlight(counter));
    if (shared !== null) {
      const inFlight = shared.flights.map((count, at) => Math.max(count, here[at] ?? 0));
      return { isShared: true, windows: shared.windows, flights: inFlight, flightsHere: here };
    }
    return {
      isShared: false,
      windows: windows.map((counter) => this.#local.inWindow(counter)),
      flights: here,
      flightsHere: here,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#renewals?.[Symbol.dispose]();
    await this.#options.redis?.[Symbol.asyncDispose]();
  }

  /** Null where Redis gives no answer in time; says nothing about requests. */
  async #read<Answer>(question: (redis: RedisCounts) => Promise<Answer>): Promise<Answer | null> {
    const { redis, timeoutMs } = this.#options;
    if (redis === null || performance.now() < this.#restUntilMs) return null;
    return await inTime(question(redis), timeoutMs).catch(() => null);
  }

  /** Null where Redis gives no answer in time; then the next requests do not ask. */
  async #ask<Answer>(question: (redis: RedisCounts) => Promise<Answer>): Promise<Answer | null> {
    const { redis, logger, timeoutMs } = this.#options;
    if (redis === null) return null;
    if (performance.now() < this.#restUntilMs) return this.#unshared();
    // During an outage one request asks whether it is over; those beside it do not wait for the answer.
    if (this.#isAway) this.#restUntilMs = performance.now() + REST_MS;
    try {
      const answer = await inTime(question(redis), timeoutMs);
      if (this.#isAway) reportLimitsShared(logger);
      this.#isAway = false;
      this.#restUntilMs = 0;
      return answer;
    } catch (error) {
      this.#restUntilMs = performance.now() + REST_MS;
      if (!this.#isAway) reportLimitsUnshared(logger, error);
      this.#isAway = true;
      return this.#unshared();
    }
  }

  #unshared(): null {
    countUnsharedRequest();
    return null;
  }
}

async function inTime<Answer>(answer: Promise<Answer>, timeoutMs: number): Promise<Answer> {
  const late = Promise.withResolvers<never>();
  const endLimit = startTimeLimit(timeoutMs, () =>
    late.reject(new Error(`no count within ${timeoutMs} ms`)),
  );
  // What is no longer waited for must not end the process when it fails later.
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    endLimit();
  }
}
