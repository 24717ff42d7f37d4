import { toCents } from '@pixmesh/kernel/money';
import { expect, test } from 'vitest';

import type { RecordedReceived } from '#received/received-pix.sql.ts';
import { returnKey } from '#returns/return-key.ts';
import { aChargeRow } from '#test/a-charge-row.ts';
import { aPixReturn, aReceivedPix } from '#test/a-received-pix.ts';

import { decideNotice, decideSuspendedReturns } from './decide-notice.ts';

const OUR_KEY = 'our-key';
const nobodys: RecordedReceived = {
  endToEndId: 'E1',
  chargeId: null,
  accountId: null,
  amount: toCents(12_345),
  disposition: 'suspense',
};
const none = { charge: null, recorded: null, pixKey: OUR_KEY };
const found = (changes = {}) =>
  ({ kind: 'found', value: aReceivedPix({ pixKey: OUR_KEY, ...changes }) }) as const;

test.each([
  ['no answer proves nothing', { kind: 'unknown', cause: 'timeout' } as const, none, 'repeat'],
  ['an unknown Pix has no effect', { kind: 'not_found' } as const, none, 'ignore'],
  ['money of another key has no effect', found({ pixKey: 'their-key' }), none, 'ignore'],
  ['ours without a txid is suspended', found(), none, 'suspend'],
  [
    'ours without a key is suspended: the acquirer speaks of our account',
    found({ pixKey: null }),
    none,
    'suspend',
  ],
  [
    'a txid that no charge of ours has is suspended',
    found({ txid: 'x'.repeat(32) }),
    none,
    'suspend',
  ],
  [
    'one that names a charge of ours is for that charge',
    found(),
    { ...none, charge: aChargeRow() },
    'check_charge',
  ],
  [
    'another key wins over the txid',
    found({ pixKey: 'their-key' }),
    { ...none, charge: aChargeRow() },
    'ignore',
  ],
  [
    'a Pix without an owner is checked again for its returns',
    found(),
    { ...none, recorded: nobodys },
    'suspend',
  ],
  [
    'what is recorded stays, even where the acquirer has lost it',
    { kind: 'not_found' } as const,
    { ...none, recorded: nobodys },
    'keep',
  ],
])('%s', (_name, lookup, ours, kind) => {
  expect(decideNotice(lookup, ours).kind).toBe(kind);
});

test('of a Pix in suspense every return that has happened counts once, a part too', () => {
  const amount = toCents(12_345);
  const pix = aReceivedPix({
    endToEndId: 'E1',
    returns: [
      aPixReturn({ id: 'whole' }),
      aPixReturn({ id: 'part', amountCents: toCents(1) }),
      aPixReturn({ id: 'booked' }),
      aPixReturn({ id: 'failed', status: 'failed' }),
      aPixReturn({ id: 'under way', status: 'processing' }),
    ],
  });
  const booked = new Map([[returnKey('E1', 'booked'), amount]]);
  expect(decideSuspendedReturns(pix, booked).map(({ id }) => id)).toEqual(['whole', 'part']);
});
