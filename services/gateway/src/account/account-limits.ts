import { sql } from '@pixmesh/postgres/sql';

/** How fast and how many at once; null: no limit. Keys may have such limits of their own. */
export type RequestLimits = {
  requests_per_minute_max: number | null;
  requests_in_flight_max: number | null;
};

/** Limits of an account that its requests do not carry to owners; `endpoints_max` is one of its settings. */
export type StoredLimits = RequestLimits & { deliveries_per_second_max: number | null };

/** The columns of `accounts` behind them. */
export const LIMITS_COLUMNS = sql`
  accounts.requests_per_minute_max, accounts.requests_in_flight_max,
  accounts.deliveries_per_second_max`;

/** What a change of a limit leaves: absent is no change, and null removes it (decision 273). */
export function changedLimit(
  change: number | null | undefined,
  present: number | null,
): number | null {
  return change === undefined ? present : change;
}

export function changedRequestLimits(
  change: Partial<Record<keyof RequestLimits, number | null | undefined>>,
  present: RequestLimits,
): RequestLimits {
  return {
    requests_per_minute_max: changedLimit(
      change.requests_per_minute_max,
      present.requests_per_minute_max,
    ),
    requests_in_flight_max: changedLimit(
      change.requests_in_flight_max,
      present.requests_in_flight_max,
    ),
  };
}
