import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { readCallbackItem } from './read-callback-item.ts';

const id = newId();

test.each([
  [
    { txid: toAcquirerId(id), endToEndId: 'E1' },
    { chargeId: id, endToEndId: 'E1' },
  ],
  // The acquirer tells upper from lower case: this txid is not ours.
  [{ txid: toAcquirerId(id).toUpperCase() }, { chargeId: null, endToEndId: null }],
  [{ endToEndId: 'E'.repeat(64) }, { chargeId: null, endToEndId: 'E'.repeat(64) }],
  [{ endToEndId: 'E'.repeat(65) }, { chargeId: null, endToEndId: null }],
  [{ endToEndId: 'E 1' }, { chargeId: null, endToEndId: null }],
  [{ endToEndId: 'E1\n' }, { chargeId: null, endToEndId: null }],
  [{ endToEndId: 'É1' }, { chargeId: null, endToEndId: null }],
  [{ endToEndId: '' }, { chargeId: null, endToEndId: null }],
  [
    { txid: 'no id of ours', endToEndId: 7 },
    { chargeId: null, endToEndId: null },
  ],
])('%o names %o', (item, named) => {
  expect(readCallbackItem(item)).toEqual(named);
});

test('whatever the shape of an item, what is taken from it is bounded and plain', () => {
  const text = fc
    .array(fc.nat(0x2_ff), { maxLength: 70 })
    .map((codes) => String.fromCharCode(...codes));
  const value = fc.oneof(text, fc.nat(), fc.constant(null), fc.array(text), fc.object());
  const item = fc.record({ txid: value, endToEndId: value });
  fc.assert(
    fc.property(item, (sent) => {
      const { endToEndId } = readCallbackItem(sent);
      if (endToEndId !== null) expect(endToEndId).toMatch(/^[\x21-\x7e]{1,64}$/);
    }),
  );
});
