import { AccountLimitsChanged } from '@pixmesh/contracts/messages/account-event.v1';
import { newId } from '@pixmesh/kernel/ids';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';

import type { StoredAccount } from '#account/account.ts';

/** The limits that other services apply; the key keeps an account's messages in order. */
export function buildLimitsChanged({ id, limits, limitsVersion }: StoredAccount): OutboundEvent {
  return outboundEvent(
    AccountLimitsChanged,
    { key: id, sequence: null },
    {
      event_id: newId(),
      type: 'account.limits_changed',
      version: 1,
      occurred_at: new Date().toISOString(),
      account_id: id,
      application_id: null,
      data: {
        deliveries_per_second_max: limits.deliveries_per_second_max,
        version: limitsVersion,
      },
    },
  );
}
