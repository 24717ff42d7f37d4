import type { Database } from '@pixmesh/postgres/pool';

import type { Faults } from '#faults/faults.ts';

import { type Notice, planNotices } from './plan-callbacks.ts';

/** Notices for the webhook of one Pix key. */
export type Announcement = { pixKey: string; notices: readonly Notice[] };

export type AnnounceDeps = { faults: Faults; pixKey: string };

/** What a change needs that announces itself. */
export type ChangeDeps = AnnounceDeps & {
  db: Database;
  /** Wakes the sender: notices were queued. */
  wakeCallbacks: () => void;
};

/** Tells of items that became known together, as far as the fault script lets it. */
export async function announce(
  { faults, pixKey }: AnnounceDeps,
  items: readonly object[],
): Promise<Announcement> {
  return { pixKey, notices: planNotices(items, await faults.pickCallbacks(items)) };
}
