import {
  CreditReceivedPix,
  SuspendReceivedPix,
} from '@pixmesh/contracts/messages/ledger-command.v1';
import { newId } from '@pixmesh/kernel/ids';
import { describe, expect, test } from 'vitest';

import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';
import { aCredit, again, anEndToEndId, aSuspense } from '#testing/received-pix-messages.ts';

import { fingerprintOf, fromCredit, fromSuspend } from './received-pix-command.ts';

const credit = (changes?: Parameters<typeof aCredit>[0]) =>
  fromCredit(CreditReceivedPix.schema.parse(aCredit(changes)));
const suspense = (changes?: Parameters<typeof aSuspense>[0]) =>
  fromSuspend(SuspendReceivedPix.schema.parse(aSuspense(changes)));

describe('owner of a command', () => {
  test('is the account that the envelope names', () => {
    const accountId = newId();
    expect(credit({ accountId }).accountId).toBe(accountId);
    expect(suspense({ accountId }).accountId).toBe(accountId);
  });

  test('is the platform for suspense that names no account', () => {
    expect(suspense({ accountId: null }).accountId).toBe(PLATFORM_ACCOUNT_ID);
  });

  test('must be named by a credit', () => {
    expect(() => credit({ accountId: null })).toThrow(
      expect.objectContaining({ code: 'MESSAGE_INVALID', retriable: false }),
    );
  });
});

describe('disposition', () => {
  test('of a credit carries the time of its release, or none', () => {
    const releaseAt = new Date('2027-01-01T12:00:00.123Z');
    expect(credit({ releaseAt }).disposition).toEqual({ kind: 'credit', releaseAt });
    expect(credit().disposition).toEqual({ kind: 'credit', releaseAt: null });
  });

  test('of a suspense carries its reason', () => {
    expect(suspense({ reason: 'late' }).disposition).toEqual({ kind: 'suspend', reason: 'late' });
  });
});

describe('fingerprint', () => {
  const pix = { accountId: newId(), endToEndId: anEndToEndId(), chargeId: newId(), amount: 500 };

  test('is the same for two messages of one command', () => {
    const message = aCredit(pix);
    const repeated = CreditReceivedPix.schema.parse(again(message));
    expect(fingerprintOf(fromCredit(repeated))).toEqual(fingerprintOf(credit(pix)));
  });

  test('does not depend on the application, which changes nothing in the books', () => {
    const command = credit(pix);
    expect(fingerprintOf({ ...command, applicationId: newId() })).toEqual(fingerprintOf(command));
  });

  test.each([
    ['amount', credit({ ...pix, amount: 501 })],
    ['account', credit({ ...pix, accountId: newId() })],
    ['charge', credit({ ...pix, chargeId: null })],
    ['end-to-end id', credit({ ...pix, endToEndId: anEndToEndId() })],
    ['release', credit({ ...pix, releaseAt: new Date('2027-01-01T00:00:00.000Z') })],
    ['disposition', suspense(pix)],
  ])('differs with another %s', (_name, other) => {
    expect(fingerprintOf(other)).not.toEqual(fingerprintOf(credit(pix)));
  });

  test('of a suspense differs with another reason', () => {
    const late = suspense({ ...pix, reason: 'late' });
    const second = suspense({ ...pix, reason: 'second_pix' });
    expect(fingerprintOf(late)).not.toEqual(fingerprintOf(second));
  });
});
