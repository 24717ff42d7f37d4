import { ApplicationChanged } from '@pixmesh/contracts/messages/account-event.v1';
import { newId } from '@pixmesh/kernel/ids';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';

import type { Application } from './applications.sql.ts';

/** The application's state for other services; the key keeps an account's messages in order. */
export function buildApplicationChanged(
  application: Pick<Application, 'id' | 'accountId' | 'active' | 'version'>,
): OutboundEvent {
  const { id, accountId, active, version } = application;
  return outboundEvent(
    ApplicationChanged,
    { key: accountId, sequence: null },
    {
      event_id: newId(),
      type: 'application.changed',
      version: 1,
      occurred_at: new Date().toISOString(),
      account_id: accountId,
      application_id: id,
      data: { application_id: id, active, version },
    },
  );
}
