import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import {
  HoldEndRefused,
  ReceivedPixCredited,
  SuspenseCredited,
  SuspenseResolved,
} from '@pixmesh/contracts/messages/ledger-event.v1';
import { on } from '@pixmesh/kafka/message-handler';
import type { ConsumerGroup } from '@pixmesh/kafka/messaging';
import { outcomeHandlers } from '@pixmesh/ledger-client/outcome-handlers';
import type { Logger } from '@pixmesh/telemetry/logger';

import { markPaid, type MarkPaidDeps } from '#received/mark-paid.ts';
import { recordHoldEndRefusal } from '#refunds/hold-refused.ts';
import { confirmCredited, confirmResolved } from '#suspense/confirm-resolution.ts';

/** Outcomes of ledger commands that concern charges. */
export function ledgerEventsConsumer(deps: MarkPaidDeps & { logger: Logger }): ConsumerGroup {
  return {
    ...CONSUMER_GROUPS.chargesLedgerEvents,
    handlers: outcomeHandlers(deps.db, [
      on(ReceivedPixCredited, (event) => markPaid(deps, event)),
      on(SuspenseResolved, ({ data }) => confirmResolved(deps.db, data)),
      on(SuspenseCredited, ({ data }) => confirmCredited(deps.db, data)),
      on(HoldEndRefused, ({ data }) => recordHoldEndRefusal(deps, data)),
    ]),
  };
}
