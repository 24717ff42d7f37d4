import { z } from 'zod';

import { TOPICS } from '../topics.ts';
import { messageEnvelope } from './message-envelope.ts';
import { defineMessage } from './message-type.ts';

/** Who owns an item of a callback: charges `received*` and `unknown`, payouts `sent*`. */
export const CallbackKind = z.enum([
  'received',
  'received_return',
  'sent',
  'sent_return',
  'unknown',
]);
export type CallbackKind = z.infer<typeof CallbackKind>;

/** One item of an acquirer's callback body, as received. It proves nothing: it is a reason for a status check now. */
export const AcquirerCallback = defineMessage({
  topic: TOPICS.acquirerCallbacks,
  type: 'acquirer.callback',
  schema: messageEnvelope(
    z.literal('acquirer.callback'),
    z.object({ kind: CallbackKind, item: z.record(z.string(), z.json()) }),
  ),
});
