import { PAYOUT_EVENTS } from '@pixmesh/contracts/messages/payout-event.v1';
import { expect, test } from 'vitest';

import { aPayoutRow } from '#test/a-payout-row.ts';

import { payoutEvents } from './payout-events.ts';
import { toPayoutResource } from './payout-resource.ts';

test('an event carries the payout as GET shows it, named payment, in the form of its contract', () => {
  const row = aPayoutRow({ status: 'processing' });
  const [event] = payoutEvents(row, ['payment.pix.created']);
  expect(event).toMatchObject({ key: row.id, sequence: 2, type: 'payment.pix.created' });
  expect(PAYOUT_EVENTS['payment.pix.created'].schema.parse(event?.message)).toMatchObject({
    source: 'api',
    destination: null,
    data: { ...toPayoutResource(row), object: 'payment' },
  });
});

test('events of one transition are numbered on from the row', () => {
  const row = aPayoutRow({ status: 'completed', eventSequence: 4, endToEndId: 'E1' });
  const events = payoutEvents(row, ['payment.pix.processing', 'payment.pix.completed']);
  expect(events.map(({ sequence }) => sequence)).toEqual([5, 6]);
  expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(2);
});

test('the per-payout URL travels with its sealed secret', () => {
  const url = 'http://shop.receiver.example.com/hook';
  const row = aPayoutRow({ webhookUrl: url, webhookSealedSecret: 'v1.sealed' });
  const [event] = payoutEvents(row, ['payment.pix.created']);
  expect(event?.message).toMatchObject({ destination: { url, sealed_secret: 'v1.sealed' } });
});
