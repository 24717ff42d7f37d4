import type { CountedLimits } from './limits-of.ts';

/** How one request stands against its limits. */
export type Verdict =
  | { kind: 'within' }
  | { kind: 'exceeded'; refusal: string; retryAfterMs: number };

export const WITHIN: Verdict = { kind: 'within' };

/** When to try again where a request in flight has to end first, which nobody can foresee. */
export const FLIGHT_RETRY_MS = 1_000;

type Window = { count: number; endsMs: number };

/**
 * What this process has let pass, whether Redis knows of it or not: its own share where Redis is away. What is in flight
 * is counted without a limit too, so that one which is set counts what is in flight already.
 */
export class LocalCounts {
  /** In the order in which they opened. */
  readonly #windows = new Map<string, Window>();
  readonly #flights = new Map<string, Set<string>>();

  verdict(limits: CountedLimits): Verdict {
    for (const { counter, max, refusal } of limits.windows) {
      const window = this.#openWindow(counter);
      if (window && window.count >= max) {
        return { kind: 'exceeded', refusal, retryAfterMs: window.endsMs - performance.now() };
      }
    }
    return this.flightVerdict(limits);
  }

  flightVerdict({ flights }: CountedLimits): Verdict {
    for (const { counter, max, refusal } of flights) {
      if (this.inFlight(counter) >= max) {
        return { kind: 'exceeded', refusal, retryAfterMs: FLIGHT_RETRY_MS };
      }
    }
    return WITHIN;
  }

  begin({ windows, inFlight }: CountedLimits, requestId: string): void {
    for (const { counter, windowMs } of windows) {
      const window = this.#openWindow(counter);
      if (window) window.count += 1;
      else this.#open(counter, windowMs);
    }
    for (const counter of inFlight) {
      const requests = this.#flights.get(counter);
      if (requests) requests.add(requestId);
      else this.#flights.set(counter, new Set([requestId]));
    }
  }

  end({ inFlight }: CountedLimits, requestId: string): void {
    for (const counter of inFlight) {
      const requests = this.#flights.get(counter);
      requests?.delete(requestId);
      if (requests?.size === 0) this.#flights.delete(counter);
    }
  }

  inWindow(counter: string): number {
    return this.#openWindow(counter)?.count ?? 0;
  }

  inFlight(counter: string): number {
    return this.#flights.get(counter)?.size ?? 0;
  }

  requestsInFlight(counter: string): string[] {
    return [...(this.#flights.get(counter) ?? [])];
  }

  #openWindow(counter: string): Window | null {
    const window = this.#windows.get(counter);
    return window && window.endsMs > performance.now() ? window : null;
  }

  /** Drops windows that have passed, oldest first, so that only those of the present stay. */
  #open(counter: string, windowMs: number): void {
    const nowMs = performance.now();
    this.#windows.delete(counter);
    for (const [name, { endsMs }] of this.#windows) {
      if (endsMs > nowMs) break;
      this.#windows.delete(name);
    }
    this.#windows.set(counter, { count: 1, endsMs: nowMs + windowMs });
  }
}
