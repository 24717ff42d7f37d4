import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { expect, test } from 'vitest';

import { PLATFORM_ACCOUNT_ID } from '#charge/ledger-command.ts';

import { type Compared, compareReceived, unexplainedJournal } from './compare-received.ts';

const PAID_AT = new Date('2026-11-21T12:00:00.000Z');
const AMOUNT = 2_000n;
const [OWNER, OTHER] = [newId(), newId()];

const journal: BookedJournal = {
  command_id: newId(),
  account_id: OWNER,
  kind: 'credit_received_pix',
  resource_id: newId(),
  amount: toCents(AMOUNT),
  created_at: PAID_AT.toISOString(),
};
const suspended: BookedJournal = { ...journal, kind: 'suspend_received_pix' };
const ours = {
  endToEndId: 'E1',
  accountId: OWNER,
  amount: AMOUNT,
  paidAt: PAID_AT,
  recordedAt: PAID_AT,
  disposition: 'credit',
} as const;
const theirs = { endToEndId: 'E1', amountCents: AMOUNT, paidAt: PAID_AT } as ReceivedPix;

/** Whose payouts a difference stops, by its kind. */
function stopped(change: Partial<Omit<Compared, 'endToEndId'>>): object {
  const breaks = compareReceived({ endToEndId: 'E1', theirs, ours, journal, ...change });
  return Object.fromEntries(breaks.map(({ kind, accountId }) => [kind, accountId ?? null]));
}

test.each<[string, Partial<Omit<Compared, 'endToEndId'>>, object]>([
  ['the acquirer does not know', { theirs: null }, { missing_left: OWNER }],
  ['has another amount at the acquirer', { ours: { ...ours, amount: 1n } }, { amount: OWNER }],
  [
    'is credited with another amount',
    { journal: { ...journal, amount: toCents(1n) } },
    { amount: OWNER },
  ],
  [
    'is credited to another account',
    { journal: { ...journal, account_id: OTHER } },
    { state: OTHER },
  ],
  [
    'is credited although it is in suspense',
    { ours: { ...ours, disposition: 'suspense' } },
    { state: OWNER },
  ],
])('a Pix that %s stops payouts of the account that has its money', (_name, change, expected) => {
  expect(stopped(change)).toEqual(expected);
});

const inSuspense = { ...ours, disposition: 'suspense' } as const;

test.each([
  ['suspense', { ...inSuspense, accountId: null }],
  ['a credit of another account', { ...ours, accountId: OTHER }],
])('a false credit that our own record calls %s is stopped where the money is', (_name, record) => {
  expect(stopped({ theirs: null, ours: record })).toEqual({ missing_left: OWNER });
});

test.each<[string, Partial<Omit<Compared, 'endToEndId'>>, object]>([
  ['is not recorded yet', { ours: null }, { missing_right: null }],
  ['is not booked yet', { journal: null }, { unbooked: null }],
  ['is in suspense instead of credited', { journal: suspended }, { state: null }],
  ['was paid at another time', { ours: { ...ours, paidAt: new Date(0) } }, { date: null }],
  [
    'the acquirer does not know and is in suspense',
    { theirs: null, ours: inSuspense, journal: suspended },
    { missing_left: null },
  ],
])('a Pix that %s stops nothing: there is nothing of it to pay out', (_name, change, expected) => {
  expect(stopped(change)).toEqual(expected);
});

test('a journal of a Pix that nobody knows stops payouts of its account, credited or in suspense', () => {
  for (const invented of [journal, suspended]) {
    expect(unexplainedJournal(invented)).toMatchObject({ kind: 'missing_left', accountId: OWNER });
  }
  const ofPlatform = { ...suspended, account_id: PLATFORM_ACCOUNT_ID };
  expect(unexplainedJournal(ofPlatform).accountId).toBeNull();
});
