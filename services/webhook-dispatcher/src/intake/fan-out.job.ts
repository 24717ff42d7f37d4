import type { AccountId } from '@pixmesh/kernel/ids';
import type { Transaction } from '@pixmesh/postgres/pool';
import { BEFORE_ALL_ACCOUNTS } from '@pixmesh/postgres/accounts-in-turn';
import { type NextTurn, type PollingLoop, startPollingLoop } from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';
import { withSpan } from '@pixmesh/telemetry/tracing';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { QueuedDelivery } from '#attempts/due-delivery.ts';

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

export type FanOutDeps = Omit<StoreEventsDeps, 'clock'> & { logger: Logger; signal: WakeSignal };

/**
 * Fans out what the intake has set aside, in every process with the role `intake`: one transaction of each account in
 * turn, then a second one of each. All state is in the table, so any process goes on where another one ended.
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
    const attributes = { 'pixmesh.account_id': account };
    const isFound = await withSpan('fan out events', { parent: null, attributes }, () =>
      fanOut(account),
    );
    if (!isFound) return { pauseMs: 0, gatherMs: ELSEWHERE_MS };
    // Half of the time is left to what is new. What is set aside meanwhile does not end this pause.
    return { pauseMs: 0, gatherMs: 2 * (performance.now() - startedMs) };
  }

  /** Answers whether it found something that no other process has in hand. */
  async function fanOut(account: AccountId): Promise<boolean> {
    let isFound = false;
    await storeAndSend(deps, () =>
      db.transaction(async (tx) => {
        const portion = await storeOldest(tx, deps, account);
        isFound = portion.isFound;
        if (isFound) behind.note(account, portion.isBehind);
        return portion.queued;
      }),
    );
    return isFound;
  }
}

/** As many of the oldest events of an account as one transaction may have deliveries. */
async function storeOldest(
  tx: Transaction,
  deps: Pick<StoreEventsDeps, 'scheduleClock'>,
  account: AccountId,
): Promise<{ queued: QueuedDelivery[]; isFound: boolean; isBehind: boolean }> {
  const taken = await takeSetAside(tx, account, EVENTS_MAX);
  if (taken.length === 0) return { queued: [], isFound: false, isBehind: true };
  const subscribed = await withSubscriberIds(tx, taken);
  const [portion = []] = inPortions(subscribed, DELIVERIES_MAX);
  const queued = portion.length === 0 ? [] : await storePortion(tx, deps, portion);
  const left = new Set(subscribed.slice(portion.length).map(({ eventId }) => eventId));
  const ended = taken.map(({ eventId }) => eventId).filter((id) => !left.has(id));
  await removeSetAside(tx, account, ended);
  return { queued, isFound: true, isBehind: left.size > 0 || taken.length === EVENTS_MAX };
}
