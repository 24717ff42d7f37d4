import type { AccountId } from '@pixmesh/kernel/ids';
import { BEFORE_ALL_ACCOUNTS } from '@pixmesh/postgres/accounts-in-turn';
import { blamesItem } from '@pixmesh/postgres/micro-batcher';
import type { Transaction } from '@pixmesh/postgres/pool';
import { type NextTurn, type PollingLoop, startPollingLoop } from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';
import { withSpan } from '@pixmesh/telemetry/tracing';

import type { QueuedDelivery } from '#attempts/due-delivery.ts';

import { parkSetAside, type ParkSetAsideDeps } from './park-set-aside.ts';
import type { AssembledEvent } from './read-event.ts';
import { nextAccountBehind, removeSetAside, takeSetAside } from './set-aside-events.sql.ts';
import { storeAndSend, type StoreEventsDeps } from './store-events.ts';
import { inPortions, storePortion } from './store-portion.ts';
import { withSubscriberIds } from './subscribed-events.ts';

/** Events that are read for one transaction, which takes as many of them as it may have deliveries. */
const EVENTS_MAX = 10;
/**
 * Deliveries of one transaction: few, because what this process takes in and sends for others waits for its CPU
 * meanwhile. One of 1,000 makes the events of others come three times as late, and no more deliveries are sent.
 */
const DELIVERIES_MAX = 200;
/** Where other processes have all of an account's events in hand. */
const ELSEWHERE_MS = 100;
/** What this process sets aside wakes it; this finds what others leave that end. */
const IDLE_INTERVAL_MS = 5_000;

export type FanOutDeps = Omit<StoreEventsDeps, 'clock'> & ParkSetAsideDeps & { signal: WakeSignal };

/**
 * Fans out what the intake has set aside, in every process with the role `intake`: one transaction of each account in
 * turn, then a second one of each. All state is in the table, so any process goes on where another one ended. An event
 * that the database refuses for what it says is parked, as by the intake; while an account cannot be fanned out for
 * another reason, the others are.
 */
export function startFanOut(deps: FanOutDeps): PollingLoop {
  const { db, behind, logger, signal } = deps;
  let last = BEFORE_ALL_ACCOUNTS;
  return startPollingLoop({ name: 'fan-out', logger, signal, turn });

  async function turn(): Promise<NextTurn> {
    const account = await nextAccountBehind(db, last);
    if (account === null) {
      behind.clear();
      return { pauseMs: IDLE_INTERVAL_MS };
    }
    // Also where this fails: the next turn is another account's.
    last = account;
    const startedMs = performance.now();
    const isFound = await fanOutLogged(account);
    if (!isFound) return { pauseMs: 0, gatherMs: ELSEWHERE_MS };
    // Half of the time is left to what is new. What is set aside meanwhile does not end this pause.
    return { pauseMs: 0, gatherMs: 2 * (performance.now() - startedMs) };
  }

  async function fanOutLogged(account: AccountId): Promise<boolean> {
    const attributes = { 'pixmesh.account_id': account };
    try {
      return await withSpan('fan out events', { parent: null, attributes }, () =>
        fanOut(account, EVENTS_MAX),
      );
    } catch (error) {
      // The loop logs the first of several failures alone, and knows no account.
      logger.error({ err: error, account_id: account }, 'events of an account not fanned out');
      throw error;
    }
  }

  /**
   * Answers whether it found something that no other process has in hand. Where the database refuses what was taken, the
   * oldest event is taken alone, so that it is stored or parked.
   */
  async function fanOut(account: AccountId, eventsMax: number): Promise<boolean> {
    let taken: AssembledEvent[] = [];
    try {
      await storeAndSend(deps, () =>
        db.transaction(async (tx) => {
          taken = await takeSetAside(tx, account, eventsMax);
          if (taken.length === 0) return [];
          const { queued, left } = await storeOldest(tx, deps, { account, taken });
          behind.note(account, left > 0 || taken.length === eventsMax);
          return queued;
        }),
      );
    } catch (error) {
      const [oldest] = taken;
      if (oldest === undefined || !blamesItem(error)) throw error;
      if (taken.length > 1) return await fanOut(account, 1);
      await parkSetAside(deps, { account, event: oldest }, error);
    }
    return taken.length > 0;
  }
}

/** As many of the oldest events of an account as one transaction may have deliveries. */
async function storeOldest(
  tx: Transaction,
  deps: Pick<StoreEventsDeps, 'scheduleClock'>,
  { account, taken }: { account: AccountId; taken: readonly AssembledEvent[] },
): Promise<{ queued: QueuedDelivery[]; left: number }> {
  const subscribed = await withSubscriberIds(tx, taken);
  const [portion = []] = inPortions(subscribed, DELIVERIES_MAX);
  const queued = portion.length === 0 ? [] : await storePortion(tx, deps, portion);
  const left = new Set(subscribed.slice(portion.length).map(({ eventId }) => eventId));
  const ended = taken.filter(({ eventId }) => !left.has(eventId));
  await removeSetAside(
    tx,
    account,
    ended.map(({ eventId }) => eventId),
  );
  return { queued, left: left.size };
}
