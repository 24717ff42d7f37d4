import {
  holdReleaseCommandId,
  holdSettleCommandId,
} from '@pixmesh/contracts/internal/ledger-command-ids';
import type { OutboundEvent } from '@pixmesh/postgres/events';

import { ledgerCommand } from '#charge/ledger-command.ts';

import type { RefundRow } from './refund-row.ts';

/** The money of a refund is back at its payer. One command per hold, for ever. */
export function holdSettle(refund: RefundRow): OutboundEvent {
  return ledgerCommand('hold.settle', refund, {
    command_id: holdSettleCommandId(refund),
    hold_id: refund.holdId,
    resource_id: refund.id,
    end_to_end_id: refund.endToEndId,
  });
}

/**
 * The money of a refund returns to its owner, or to the block that it was taken from. One command per hold, for ever.
 */
export function holdRelease(refund: RefundRow): OutboundEvent {
  return ledgerCommand('hold.release', refund, {
    command_id: holdReleaseCommandId(refund),
    hold_id: refund.holdId,
    resource_id: refund.id,
  });
}
