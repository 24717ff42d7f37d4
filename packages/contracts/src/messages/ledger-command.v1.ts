import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';
import { TOPICS } from '../topics.ts';
import { WireAmount } from '../wire-cents.ts';
import { messageEnvelope } from './message-envelope.ts';
import { defineMessage } from './message-type.ts';

/**
 * What every command of one received Pix says. `command_id` is derived from the end-to-end id alone, so the
 * credit and the suspense of one Pix share it: the ledger books exactly one of them, for ever.
 */
const ReceivedPixCommandData = z.object({
  command_id: z.uuid(),
  end_to_end_id: z.string().min(1).max(64),
  /** The charge, or null for money that names none. */
  charge_id: z.uuid().nullable(),
  amount: WireAmount,
});

/** Credits a received Pix to its account: at once, or pending until `release_at` (decision 133). */
export const CreditReceivedPix = defineMessage({
  topic: TOPICS.ledgerCommands,
  type: 'received_pix.credit',
  schema: messageEnvelope(
    z.literal('received_pix.credit'),
    ReceivedPixCommandData.extend({ release_at: Timestamp.nullable() }),
  ),
});

/** Books a received Pix that no charge accepts to suspense, for an operator to decide (decision 141). */
export const SuspendReceivedPix = defineMessage({
  topic: TOPICS.ledgerCommands,
  type: 'received_pix.suspend',
  schema: messageEnvelope(
    z.literal('received_pix.suspend'),
    ReceivedPixCommandData.extend({
      reason: z.enum(['amount_mismatch', 'second_pix', 'late', 'charge_closed', 'unowned']),
    }),
  ),
});

export const LEDGER_COMMANDS = {
  'received_pix.credit': CreditReceivedPix,
  'received_pix.suspend': SuspendReceivedPix,
} as const;
