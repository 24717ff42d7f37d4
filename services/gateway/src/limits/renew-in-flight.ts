import type { CountedLimits } from './limits-of.ts';

/** Of a lease, after which it is renewed: two renewals may be lost. */
const RENEWED_AFTER = 1 / 3;

/** Says in Redis that these requests are in flight for one more lease. Fails where Redis is not reached. */
type Hold = (counter: string, requestIds: string[]) => Promise<unknown>;

export type Renewals = Disposable & {
  /** To be called before a request is counted in Redis: it has to know what else is in flight here. */
  follow(limits: CountedLimits): void;
  /** To be called when the request has begun here: a renewal beside the question has not seen it. */
  keep(limits: CountedLimits): void;
  /** Whether Redis was told what is in flight there. */
  follows(counter: string): boolean;
};

/**
 * Keeps Redis told what this gateway has in flight under a limit, for as long as it lives: what began before the limit
 * was set, or while Redis was away, and what outlasts its lease. So leases are short, and a gateway that is killed
 * holds no places for long.
 */
export function createRenewals(options: {
  leaseMs: number;
  requestsInFlight(counter: string): string[];
  hold: Hold;
}): Renewals {
  const limited = new Set<string>();
  let timer: NodeJS.Timeout | null = null;
  let isStopped = false;
  return {
    follow: ({ flights, inFlight }) => {
      // A limit that was removed.
      for (const counter of inFlight) {
        if (!flights.some((limit) => limit.counter === counter)) limited.delete(counter);
      }
      for (const { counter } of flights) {
        if (limited.has(counter)) continue;
        renew(counter);
      }
      keep({ flights });
    },
    keep,
    follows: (counter) => limited.has(counter),
    [Symbol.dispose]: () => {
      isStopped = true;
      stop();
    },
  };

  function keep({ flights }: Pick<CountedLimits, 'flights'>): void {
    for (const { counter } of flights) limited.add(counter);
    if (limited.size === 0 || isStopped) return;
    timer ??= setInterval(renewAll, options.leaseMs * RENEWED_AFTER).unref();
  }

  function renewAll(): void {
    for (const counter of limited) {
      if (!renew(counter)) limited.delete(counter);
    }
    if (limited.size === 0) stop();
  }

  /** Answers whether anything is in flight there. */
  function renew(counter: string): boolean {
    const requestIds = options.requestsInFlight(counter);
    if (requestIds.length === 0) return false;
    // While Redis is away each gateway counts by itself; the next renewal tells it all.
    options.hold(counter, requestIds).catch(() => undefined);
    return true;
  }

  function stop(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }
}
