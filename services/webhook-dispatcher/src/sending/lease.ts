/** From look-up to body, everything within one deadline (specification, Delivery and retry rules). */
export const DELIVERY_TIMEOUT_MS = 10_000;

/**
 * A claim outlives its request by this much, so that no second sender begins while the first may still be
 * talking. Short, because after a crash it is also how long a claimed delivery waits.
 */
export const LEASE_MARGIN_MS = 3_000;

/** Less than this does not cover a slow answer of the database; refused at boot. */
export const LEASE_MARGIN_MS_MIN = 1_000;
