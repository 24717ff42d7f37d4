import { defineMessage } from '@pixmesh/contracts/messages/message-type';
import { TOPICS } from '@pixmesh/contracts/topics';
import { currentAccount, OWN_WORK } from '@pixmesh/fair-share/current-account';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { on } from './message-handler.ts';

const MESSAGE = defineMessage({
  topic: TOPICS.acquirerCallbacks,
  type: 'thing.done',
  schema: z.object({ account_id: z.string().nullable() }),
});

test('a message is handled in the turns of the account that it is about', async () => {
  const accounts: string[] = [];
  const handler = on(MESSAGE, async () => void accounts.push(currentAccount()));
  await handler.handle({ account_id: 'one' });
  await handler.handle({ account_id: null });
  expect(accounts).toEqual(['one', OWN_WORK]);
});
