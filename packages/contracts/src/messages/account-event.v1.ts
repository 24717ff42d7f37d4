import { z } from 'zod';

import { TOPICS } from '../topics.ts';
import { messageEnvelope } from './message-envelope.ts';
import { defineMessage } from './message-type.ts';

/**
 * An application as it is from now on: its full state, not a delta, so that the newest version alone is enough and an
 * older one that comes later says nothing. Key: the account's id. Versions count from 1 per
 * application.
 */
export const ApplicationChanged = defineMessage({
  topic: TOPICS.accountsEvents,
  type: 'application.changed',
  schema: messageEnvelope(
    z.literal('application.changed'),
    z.object({ application_id: z.uuid(), active: z.boolean(), version: z.int().min(1) }),
  ).extend({ account_id: z.uuid(), application_id: z.uuid() }),
});

export type ApplicationChanged = z.output<typeof ApplicationChanged.schema>;
