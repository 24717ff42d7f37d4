/** From look-up to body, everything within one deadline (specification, Delivery and retry rules). */
export const DELIVERY_TIMEOUT_MS = 10_000;

/** What is left of a lane's lease beyond the deadline when a request begins: for its outcome to be stored under it. */
export const START_MARGIN_MS = 1_000;

/**
 * A lease outlives a request by this much. Short, because after a crash it is also how long the lanes of the dead
 * sender wait.
 */
export const LEASE_MARGIN_MS = 3_000;

/** Less than this leaves no time between two renewals; refused at boot. */
export const LEASE_MARGIN_MS_MIN = 2 * START_MARGIN_MS;
