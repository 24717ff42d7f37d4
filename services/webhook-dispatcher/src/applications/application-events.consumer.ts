import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import {
  AccountLimitsChanged,
  ApplicationChanged,
} from '@pixmesh/contracts/messages/account-event.v1';
import { on } from '@pixmesh/kafka/message-handler';
import type { ConsumerGroup } from '@pixmesh/kafka/consumers';

import { storeRate } from '#rates/delivery-rates.sql.ts';

import type { EndpointLanesDeps } from '#endpoints/create-endpoint.ts';

import { applyApplicationChange } from './apply-application-change.ts';

/**
 * A group of its own, beside that of the resources' events: neither waits for the other. It reads the topic from its
 * beginning when it is new.
 */
export function applicationEventsIntake(deps: EndpointLanesDeps): ConsumerGroup {
  return {
    ...CONSUMER_GROUPS.dispatcherApplications,
    handlers: [
      on(ApplicationChanged, (message) => applyApplicationChange(deps, message)),
      // An older state that comes later, or again, changes nothing: the version is the key of the effect.
      on(AccountLimitsChanged, ({ account_id: accountId, data }) =>
        storeRate(deps.db, {
          accountId,
          perSecondMax: data.deliveries_per_second_max,
          version: data.version,
        }),
      ),
    ],
  };
}
