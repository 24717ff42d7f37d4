import { defineMessage } from '@pixmesh/contracts/messages/message-type';
import { TOPICS } from '@pixmesh/contracts/topics';
import { currentAccount, OWN_WORK } from '@pixmesh/fair-share/current-account';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { dispatchMessage, isForOthers, on } from './message-handler.ts';

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

test('a message whose headers show that it is not for this consumer is not decoded', async () => {
  let decoded = 0;
  const handled: unknown[] = [];
  const codec = {
    decode: () => {
      decoded += 1;
      return Promise.resolve({ account_id: null });
    },
  };
  const message = { ...MESSAGE, type: 'acquirer.callback' };
  const handlers = [
    on(
      message,
      async (value) => void handled.push(value),
      ({ kind }) => kind !== 'theirs',
    ),
  ];
  const incoming = { topic: '', partition: 0, offset: 0n, key: null, value: Buffer.alloc(1) };
  for (const kind of ['theirs', 'ours']) {
    const headers = { type: message.type, kind };
    await dispatchMessage({ codec, handlers }, { ...incoming, headers });
  }
  expect([decoded, handled.length]).toEqual([1, 1]);
});

test('a message is for others by its type or its headers, and one whose type nobody knows is not', () => {
  const handlers = [
    on(
      { ...MESSAGE, type: 'hold.settled' },
      async () => undefined,
      ({ kind }) => kind === 'ours',
    ),
    on({ ...MESSAGE, type: 'hold.released' }, async () => undefined),
  ];
  const answerFor = (type: string | undefined, kind: string): boolean =>
    isForOthers(handlers, type, () => ({ kind }));
  expect(answerFor('hold.settled', 'ours')).toBe(false);
  expect(answerFor('hold.settled', 'theirs')).toBe(true);
  expect(answerFor('hold.released', 'theirs')).toBe(false);
  expect(answerFor('suspense.resolved', 'ours')).toBe(true);
  expect([answerFor('no.such', 'ours'), answerFor(undefined, 'ours')]).toEqual([false, false]);
});
