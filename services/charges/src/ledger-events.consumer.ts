import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import { CHARGE_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import {
  HoldEndRefused,
  ReceivedPixCredited,
  SuspenseCredited,
  SuspenseResolved,
} from '@pixmesh/contracts/messages/ledger-event.v1';
import { on } from '@pixmesh/kafka/message-handler';
import type { ConsumerGroup } from '@pixmesh/kafka/consumers';
import { outcomeHandlers } from '@pixmesh/ledger-client/outcome-handlers';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { markPaid, type MarkPaidDeps } from '#received/mark-paid.ts';
import { recordHoldEndRefusal } from '#refunds/record-hold-end-refusal.ts';
import { confirmCredited, confirmResolved } from '#suspense/confirm-resolution.ts';

/**
 * Outcomes of one partition in hand at once: charges do not wait for each other, and what comes together is moved
 * together.
 */
const IN_HAND_MAX = 64;
const COMMANDS = Object.keys(CHARGE_COMMANDS) as (keyof typeof CHARGE_COMMANDS)[];

/** Outcomes of ledger commands that concern charges. */
export function ledgerEventsConsumer(
  deps: MarkPaidDeps & { db: Database; logger: Logger },
): ConsumerGroup {
  return {
    ...CONSUMER_GROUPS.chargesLedgerEvents,
    ...outcomeHandlers({ db: deps.db, commands: COMMANDS, holdKind: 'refund' }, [
      on(ReceivedPixCredited, (event) => markPaid(deps, event)),
      on(SuspenseResolved, ({ data }) => confirmResolved(deps.db, data)),
      on(SuspenseCredited, ({ data }) => confirmCredited(deps.db, data)),
      on(HoldEndRefused, ({ data }) => recordHoldEndRefusal(deps, data)),
    ]),
    concurrency: { max: IN_HAND_MAX },
  };
}
