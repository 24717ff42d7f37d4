import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';

/**
 * Who delivers, and what waits to be delivered: a route of the dispatcher that only the gateway calls, without a
 * tenant.
 */
export const DISPATCHERS_PATH = '/internal/dispatchers';

/** One process of the dispatcher, by what it said of itself at `seen_at`. */
const DispatcherProcess = z.object({
  id: z.uuid(),
  host: z.string(),
  pid: z.int(),
  roles: z.array(z.enum(['api', 'intake', 'sender'])),
  started_at: Timestamp,
  /** Renewed every second; a row that is not is gone after half a minute. */
  seen_at: Timestamp,
  /** Of one core, over the last second. */
  cpu: z.number().min(0),
  /** Of a sender: lanes that it serves, its sends in flight and how many it may have; null for other roles. */
  lanes: z.int().min(0).nullable(),
  slots_used: z.int().min(0).nullable(),
  slots: z.int().min(0).nullable(),
});

const AccountSetAside = z.object({
  account_id: z.uuid(),
  /** Its events that are set aside, up to 1,000; how long ago the oldest of them happened. */
  events: z.int().min(1),
  oldest_seconds: z.number().min(0),
});

export const Dispatchers = z.object({
  object: z.literal('dispatchers'),
  checked_at: Timestamp,
  processes: z.array(DispatcherProcess),
  backlog: z.object({
    /** Messages in the topics that no intake has taken in; null while the broker does not say. */
    events_waiting: z.int().min(0).nullable(),
    /**
     * Events of accounts that make more deliveries than their share of a batch, up to 10,000: their deliveries are
     * stored in turns by account. How long ago the oldest of them happened.
     */
    events_set_aside: z.int().min(0),
    oldest_set_aside_seconds: z.number().min(0),
    /** Whose they are, the account with the oldest first: up to 20. */
    accounts_set_aside: z.array(AccountSetAside),
    /**
     * Lanes in which something is due and that no sender serves, up to 10,000, but for those of accounts with a limit on
     * deliveries per second; for how long the oldest has been.
     */
    lanes_waiting: z.int().min(0),
    oldest_waiting_seconds: z.number().min(0),
    /** For how long the oldest has been due in lanes of accounts that have used up that limit. */
    oldest_limited_seconds: z.number().min(0),
    /** For how long the oldest first attempt has been due in lanes that are served, requests that are out included. */
    oldest_served_seconds: z.number().min(0),
  }),
});
export type Dispatchers = z.output<typeof Dispatchers>;
