import { z } from 'zod';

import { TOPICS } from '../topics.ts';
import { WireAmount, WireBalance } from '../wire-cents.ts';
import { messageEnvelope } from './message-envelope.ts';
import { defineMessage } from './message-type.ts';

const ReceivedPixOutcomeData = z.object({
  command_id: z.uuid(),
  journal_id: z.uuid(),
  end_to_end_id: z.string(),
  charge_id: z.uuid().nullable(),
  amount: WireAmount,
  /** The account's balance right after the journal. */
  balance: z.object({ available: WireBalance, pending: WireBalance }),
});

/** The credit of a received Pix stands in the ledger; the merchant can spend or await it. */
export const ReceivedPixCredited = defineMessage({
  topic: TOPICS.ledgerEvents,
  type: 'received_pix.credited',
  schema: messageEnvelope(z.literal('received_pix.credited'), ReceivedPixOutcomeData),
});

/** The received Pix stands in suspense. */
export const ReceivedPixSuspended = defineMessage({
  topic: TOPICS.ledgerEvents,
  type: 'received_pix.suspended',
  schema: messageEnvelope(z.literal('received_pix.suspended'), ReceivedPixOutcomeData),
});
