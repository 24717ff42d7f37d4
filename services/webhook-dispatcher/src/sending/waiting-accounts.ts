import type { OwnedLane } from '#lanes/owned-lane.ts';

import type { RotatedAccounts } from './lane-rotation.ts';

/**
 * With fewer lanes of an account than this that wait for its rate, or fail and wait for a slot, further ones are
 * claimed: each has its turn. Without a bound those of one account would take the places of everybody's lanes.
 */
const WAITING_LANES_MAX = 16;

type Noted = {
  lanes: Iterable<OwnedLane>;
  /** Accounts that have lanes which got no slot. */
  full: ReadonlySet<string>;
  /** How many lanes that fail got no slot, by account. */
  failing: ReadonlyMap<string, number>;
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
  let noted = nothingNoted();
  return { note, current: () => current, takeNoted };

  function note({ lanes, full, failing, paused }: Noted): void {
    const forRate = crowdedAccounts(countLanes(lanes, paused));
    const ofFailing = crowdedAccounts(failing);
    for (const accountId of forRate) noted.forRate.add(accountId);
    for (const accountId of ofFailing) noted.ofFailing.add(accountId);
    // One that is paused has not used the slots that it was given.
    for (const accountId of full) if (!paused.has(accountId)) noted.forSlots.add(accountId);
    current = new Set([...full, ...forRate, ...ofFailing]);
  }

  function takeNoted(): RotatedAccounts {
    const taken = noted;
    noted = nothingNoted();
    return taken;
  }
}

function nothingNoted() {
  return {
    forSlots: new Set<string>(),
    forRate: new Set<string>(),
    ofFailing: new Set<string>(),
  };
}

/** Accounts of which so many lanes wait here that more of them are left to others. */
function crowdedAccounts(counts: ReadonlyMap<string, number>): string[] {
  return [...counts].flatMap(([accountId, count]) =>
    count >= WAITING_LANES_MAX ? [accountId] : [],
  );
}

/** How many lanes of these accounts have something to do. */
function countLanes(
  lanes: Iterable<OwnedLane>,
  accounts: ReadonlySet<string>,
): Map<string, number> {
  const counts = new Map<string, number>();
  if (accounts.size === 0) return counts;
  for (const { mayBeDue, isDraining, accountId } of lanes) {
    if (!mayBeDue || isDraining || !accounts.has(accountId)) continue;
    counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
  }
  return counts;
}
