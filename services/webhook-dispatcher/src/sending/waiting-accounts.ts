import type { OwnedLane } from '#lanes/owned-lane.ts';

import type { RotatedAccounts } from './lane-rotation.ts';

/** With fewer lanes of a paused account than this, further ones are claimed: each has its turn at the rate. */
const PAUSED_LANES_MAX = 16;

type Noted = {
  lanes: Iterable<OwnedLane>;
  /** Accounts that have lanes which got no slot. */
  full: ReadonlySet<string>;
  /** Accounts of which nothing may be sent at this moment. */
  paused: ReadonlySet<string>;
};

/** Accounts whose lanes wait in this process. */
export type WaitingAccounts = {
  /** After each turn. */
  note(turn: Noted): void;
  /** Those of which no further lanes are claimed. */
  current(): ReadonlySet<string>;
  /** What was noted since this was called last. */
  takeNoted(): RotatedAccounts;
};

export function createWaitingAccounts(): WaitingAccounts {
  let current: ReadonlySet<string> = new Set();
  let [forSlots, forRate] = [new Set<string>(), new Set<string>()];
  return { note, current: () => current, takeNoted };

  function note({ lanes, full, paused }: Noted): void {
    const crowded = crowdedAccounts(lanes, paused);
    for (const accountId of crowded) forRate.add(accountId);
    // One that is paused has not used the slots that it was given.
    for (const accountId of full) if (!paused.has(accountId)) forSlots.add(accountId);
    current = new Set([...full, ...crowded]);
  }

  function takeNoted(): RotatedAccounts {
    const noted = { forSlots, forRate };
    [forSlots, forRate] = [new Set<string>(), new Set<string>()];
    return noted;
  }
}

/** Paused accounts of which so many lanes wait here that more of them are left to others. */
function crowdedAccounts(
  lanes: Iterable<OwnedLane>,
  pausedAccounts: ReadonlySet<string>,
): string[] {
  if (pausedAccounts.size === 0) return [];
  const counts = new Map<string, number>();
  for (const { isDirty, isDraining, accountId } of lanes) {
    if (isDirty && !isDraining) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
  }
  return [...pausedAccounts].filter(
    (accountId) => (counts.get(accountId) ?? 0) >= PAUSED_LANES_MAX,
  );
}
