import { HoldRelease, HoldSettle } from '@pixmesh/contracts/messages/ledger-command.v1';
import { deriveCommandId } from '@pixmesh/kernel/ids';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';

import { ledgerOrder } from '#charge/ledger-command.ts';

import type { RefundRow } from './refund-row.ts';

/** The one command that takes the money of a refund out of the books. */
export function settleIdOf({ holdId }: { holdId: string }): string {
  return deriveCommandId('hold_settle', holdId);
}

/** The one command that gives the money of a refund back to its owner. */
export function releaseIdOf({ holdId }: { holdId: string }): string {
  return deriveCommandId('hold_release', holdId);
}

/** The money of a refund is back at its payer. One command per hold, for ever. */
export function settleHoldCommand(refund: RefundRow): OutboundEvent {
  const { place, envelope } = ledgerOrder(refund);
  return outboundEvent(HoldSettle, place, {
    ...envelope,
    type: 'hold.settle',
    data: {
      command_id: settleIdOf(refund),
      hold_id: refund.holdId,
      resource_id: refund.id,
      end_to_end_id: refund.endToEndId,
    },
  });
}

/** The money of a refund returns to its owner, or to the block that it was taken from. One command per hold, for ever. */
export function releaseHoldCommand(refund: RefundRow): OutboundEvent {
  const { place, envelope } = ledgerOrder(refund);
  return outboundEvent(HoldRelease, place, {
    ...envelope,
    type: 'hold.release',
    data: {
      command_id: releaseIdOf(refund),
      hold_id: refund.holdId,
      resource_id: refund.id,
    },
  });
}
