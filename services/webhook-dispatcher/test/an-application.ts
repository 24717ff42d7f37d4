import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { createLogger } from '@pixmesh/telemetry/logger';

import { applyApplicationChange } from '#applications/apply-application-change.ts';
import { databaseClock } from '#schedule-clock.ts';

import { aChargeEvent } from './a-charge-event.ts';
import { anApplicationChange } from './an-application-change.ts';

const logger = createLogger('test', 'silent');

/** An application, what the gateway announces of it, and events of its charges. */
export function anApplication(accountId = newId<AccountId>()) {
  const owner = { accountId, applicationId: newId<ApplicationId>() };
  let version = 0;
  return {
    owner,
    /** The next version of it. */
    change: (active: boolean, at?: string) =>
      anApplicationChange({
        ...owner,
        active,
        version: (version += 1),
        ...(at === undefined ? {} : { at }),
      }),
    anEvent: (changes: Parameters<typeof aChargeEvent>[0] = {}) =>
      aChargeEvent({
        account_id: owner.accountId,
        application_id: owner.applicationId,
        url: null,
        ...changes,
      }),
  };
}

export type TestApplication = ReturnType<typeof anApplication>;

/** What the consumer does with a message; answers the lanes for which senders are woken. */
export async function applyChange(
  db: Database,
  change: ReturnType<typeof anApplicationChange>,
): Promise<string[]> {
  const hinted: string[] = [];
  const wakeSenders = (laneIds: readonly string[]): void => void hinted.push(...laneIds);
  await applyApplicationChange({ db, logger, clock: databaseClock, wakeSenders }, change);
  return hinted;
}
