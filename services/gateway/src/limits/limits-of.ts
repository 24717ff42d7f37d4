import type { Caller } from '#authentication/authenticate-key.ts';

/** How many requests may begin in one window; it opens with the first of them. */
type WindowLimit = { counter: string; max: number; windowMs: number; refusal: string };
/** How many requests may be in flight at once. */
type FlightLimit = { counter: string; max: number; refusal: string };

export type CountedLimits = {
  windows: readonly WindowLimit[];
  flights: readonly FlightLimit[];
  /** Where this process counts the request as in flight, limited or not. */
  inFlight: readonly string[];
};

/** What the installation allows a key that has no limit of its own; null: everything (decision 24). */
export type KeyDefault = { max: number; windowMs: number } | null;

const MINUTE_MS = 60_000;

/** Where requests are counted: an id and a number, no key. */
export const COUNTERS = {
  minute: (id: string) => `pixmesh:minute:${id}`,
  inFlight: (id: string) => `pixmesh:in-flight:${id}`,
  /** Of the installation's own window. Of one whose length was changed, another: what has begun keeps its own end. */
  rate: (keyId: string, windowMs: number) => `pixmesh:rate:${windowMs}:${keyId}`,
} as const;

const REFUSALS = {
  keyRate: 'Too many requests with this key.',
  keyFlight: 'Too many requests in flight with this key.',
  accountRate: 'Too many requests of this account.',
  accountFlight: 'Too many requests in flight of this account.',
} as const;

/**
 * The limits that a request counts against: those of its account and those of its key. A key's own limit takes the
 * place of the installation's, wider or narrower (ADR 0026).
 */
export function limitsOf(
  { accountId, keyId, limits: { account, key } }: Pick<Caller, 'accountId' | 'keyId' | 'limits'>,
  keyDefault: KeyDefault,
): CountedLimits {
  const ofKey = key.requests_per_minute_max;
  const windows = [
    ofKey !== null && minute(keyId, ofKey, REFUSALS.keyRate),
    ofKey === null &&
      keyDefault !== null && {
        ...keyDefault,
        counter: COUNTERS.rate(keyId, keyDefault.windowMs),
        refusal: REFUSALS.keyRate,
      },
    account.requests_per_minute_max !== null &&
      minute(accountId, account.requests_per_minute_max, REFUSALS.accountRate),
  ];
  const flights = [
    key.requests_in_flight_max !== null && {
      counter: COUNTERS.inFlight(keyId),
      max: key.requests_in_flight_max,
      refusal: REFUSALS.keyFlight,
    },
    account.requests_in_flight_max !== null && {
      counter: COUNTERS.inFlight(accountId),
      max: account.requests_in_flight_max,
      refusal: REFUSALS.accountFlight,
    },
  ];
  return {
    windows: windows.filter((limit) => limit !== false),
    flights: flights.filter((limit) => limit !== false),
    inFlight: [COUNTERS.inFlight(keyId), COUNTERS.inFlight(accountId)],
  };
}

function minute(id: string, max: number, refusal: string): WindowLimit {
  return { counter: COUNTERS.minute(id), max, windowMs: MINUTE_MS, refusal };
}
