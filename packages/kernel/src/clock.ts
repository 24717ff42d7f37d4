/** Wall time as an argument, so that tests can turn it. Leases and schedules use database time instead. */
export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };
