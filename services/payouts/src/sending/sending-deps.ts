import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import type { CheckPeriods } from '@pixmesh/kernel/check-schedule';

import type { SettlementDeps } from '#settlement/settlement-deps.ts';

/** What sending needs; periods in milliseconds. */
export type SendingDeps = SettlementDeps & {
  acquirer: Pick<Acquirer, 'sendPayout'>;
  acquirerTimeoutMs: number;
  /** Distances between status checks of a payout whose call ended without a definite answer. */
  unknownChecks: CheckPeriods;
};
