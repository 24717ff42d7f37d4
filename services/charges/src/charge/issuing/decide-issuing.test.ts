import { expect, test } from 'vitest';

import { aChargeRow } from '#test/a-charge-row.ts';

import { decideAfterNotFound, ISSUANCE_TIMEOUT } from './decide-issuing.ts';

const limits = { acquirerTimeoutMs: 4_000, giveUpMs: 600_000 };
const readAt = new Date('2026-11-21T12:00:00.000Z');

function ago(seconds: number): Date {
  return new Date(readAt.getTime() - seconds * 1000);
}

test.each([
  [
    'right after a call, nothing follows: it may still have its effect',
    { lastCallAt: ago(3) },
    { kind: 'check_later' },
  ],
  [
    'an exchange later the same call is made again, with the seconds that remain',
    { lastCallAt: ago(5), expiresAt: ago(-900) },
    { kind: 'issue_again', expiresInSeconds: 900 },
  ],
  [
    'with exactly sixty seconds left it is still made',
    { lastCallAt: ago(5), expiresAt: ago(-60) },
    { kind: 'issue_again', expiresInSeconds: 60 },
  ],
  [
    'with less than sixty seconds left the charge fails',
    { lastCallAt: ago(5), expiresAt: ago(-59.999) },
    { kind: 'fail', reason: ISSUANCE_TIMEOUT },
  ],
  [
    'a charge of sixty seconds whose first call was never sent is issued a moment later',
    { lastCallAt: null, expiresAt: ago(-59.9) },
    { kind: 'issue_again', expiresInSeconds: 60 },
  ],
  [
    'and fails where less than fifty seconds are left',
    { lastCallAt: null, expiresAt: ago(-49.999) },
    { kind: 'fail', reason: ISSUANCE_TIMEOUT },
  ],
  [
    'after ten minutes of 404 the charge fails',
    { lastCallAt: ago(5), firstNotFoundAt: ago(600), expiresAt: ago(-9_000) },
    { kind: 'fail', reason: ISSUANCE_TIMEOUT },
  ],
  [
    'ten minutes of 404 do not count while a call may still be under way',
    { lastCallAt: ago(1), firstNotFoundAt: ago(600), expiresAt: ago(-9_000) },
    { kind: 'check_later' },
  ],
  [
    'a refusal that does not count yet is never followed by another call',
    { lastCallAt: ago(30), uncountedRefusal: 'valor_invalido: no', expiresAt: ago(-900) },
    { kind: 'check_later' },
  ],
  [
    'a refusal counts when the acquirer still knows nothing ten minutes after the last unknown call',
    { lastCallAt: ago(600), uncountedRefusal: 'valor_invalido: no' },
    { kind: 'fail', reason: 'valor_invalido: no' },
  ],
])('%s', (_name, row, expected) => {
  expect(decideAfterNotFound(aChargeRow({ readAt, ...row }), limits)).toEqual(expected);
});
