import { AccountLimitsChanged, ApplicationChanged } from './account-event.v1.ts';
import { AcquirerCallback } from './acquirer-callback.v1.ts';
import { CHARGE_EVENTS, DISPUTE_EVENTS } from './charge-event.v1.ts';
import { LEDGER_COMMANDS } from './ledger-command.v1.ts';
import { LEDGER_EVENTS } from './ledger-event.v1.ts';
import type { MessageType } from './message-type.ts';
import { PAYOUT_EVENTS } from './payout-event.v1.ts';

/** Every message that may stand on a topic: registered by the deploy job, warmed at boot. */
export const MESSAGE_TYPES: readonly MessageType[] = [
  AcquirerCallback,
  ApplicationChanged,
  AccountLimitsChanged,
  ...Object.values(CHARGE_EVENTS),
  ...Object.values(DISPUTE_EVENTS),
  ...Object.values(PAYOUT_EVENTS),
  ...Object.values(LEDGER_COMMANDS),
  ...Object.values(LEDGER_EVENTS),
];
