import type { Queryable } from '@pixmesh/postgres/pool';

import { readBalance } from '#balance/balance.sql.ts';
import type { Clock } from '#clock/clock.ts';
import type { FaultScripts } from '#faults/fault-script.ts';
import type { Faults } from '#faults/faults.ts';
import type { Profile, StoredProfile } from '#profile/profile.ts';
import type { StoredSetting } from '#settings/stored-setting.ts';
import { findWebhook } from '#webhooks/webhooks.sql.ts';

import { readStates, type States } from './state.sql.ts';

/** What there is to see of the provider: the newest of each kind, and what was set. */
export type State = States & {
  clock: { now: string; offset_seconds: number };
  profile: Profile;
  faults: FaultScripts;
  pix_key: string;
  /** Cents. */
  balance: number;
  webhook_url: string | null;
};

export type StateDeps = {
  db: Queryable;
  clock: Clock;
  faults: Faults;
  profile: StoredSetting<StoredProfile>;
  pixKey: string;
};

export async function readState(deps: StateDeps): Promise<State> {
  const { db, clock } = deps;
  const [states, balance, webhook] = await Promise.all([
    readStates(db),
    readBalance(db),
    findWebhook(db, deps.pixKey),
  ]);
  return {
    clock: { now: clock.now().toISOString(), offset_seconds: clock.offsetSeconds() },
    profile: deps.profile.get().name,
    faults: deps.faults.scripts(),
    pix_key: deps.pixKey,
    balance: Number(balance),
    webhook_url: webhook?.url ?? null,
    ...states,
  };
}
