import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import type { CheckPeriods } from '@pixmesh/kernel/check-schedule';

import type { PayoutRow } from '#payouts/payout-row.ts';
import type { SettlementDeps } from '#settlement/settlement-deps.ts';

/** What status checks need; periods in milliseconds. */
export type StatusCheckDeps = SettlementDeps & {
  acquirer: Pick<Acquirer, 'getPayout'>;
  /** How long after it was counted a call of a sender may be under way. */
  callMs: number;
  /** How long a refusal waits after a call that ended unknown, before it counts (decision 119). */
  refusalWaitMs: number;
  intentChecks: CheckPeriods;
  unknownChecks: CheckPeriods;
  /** Checks were requested. */
  wakeStatusChecks(): void;
  /** Wakes the sender after a commit. */
  wakeSender(): void;
  /** Ends an intent that its own call left behind; `unknown` or `moved` leaves it to a later check. */
  settleIntent(intent: PayoutRow): Promise<{ kind: 'finished' | 'dropped' | 'moved' | 'unknown' }>;
};
