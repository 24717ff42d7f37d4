import type { ApplicationChanged } from '@pixmesh/contracts/messages/account-event.v1';
import { newId } from '@pixmesh/kernel/ids';

type Changes = {
  accountId: string;
  applicationId: string;
  active: boolean;
  version: number;
  at?: string;
};

/** A message of `accounts.events.v1`. */
export function anApplicationChange({ at, ...state }: Changes): ApplicationChanged {
  const { accountId, applicationId, active, version } = state;
  return {
    event_id: newId(),
    type: 'application.changed',
    version: 1,
    occurred_at: at ?? new Date().toISOString(),
    account_id: accountId,
    application_id: applicationId,
    data: { application_id: applicationId, active, version },
  };
}
