import {
  CreditReceivedPix,
  SuspendReceivedPix,
} from '@pixmesh/contracts/messages/ledger-command.v1';
import { AMOUNT_CENTS_MAX } from '@pixmesh/kernel/money';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { LockedAccounts } from '#accounts/accounts.sql.ts';
import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';
import { aCredit, aSuspense } from '#testing/received-pix-messages.ts';

import { accountsOf, decideJournal } from './decide-journal.ts';
import { fromCredit, fromSuspend, type ReceivedPixCommand } from './received-pix-command.ts';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const later = (ms: number) => new Date(NOW.getTime() + ms);

const credit = (changes?: Parameters<typeof aCredit>[0]) =>
  fromCredit(CreditReceivedPix.schema.parse(aCredit(changes)));
const suspense = (changes?: Parameters<typeof aSuspense>[0]) =>
  fromSuspend(SuspendReceivedPix.schema.parse(aSuspense(changes)));

function standing(
  command: ReceivedPixCommand,
  balances: { available?: bigint; pending?: bigint } = {},
): LockedAccounts {
  const { available = 0n, pending = 0n } = balances;
  return {
    accountId: command.accountId,
    now: NOW,
    balances: new Map([
      ['available', available],
      ['pending', pending],
      ['acquirer_clearing', -(available + pending)],
      ['suspense', 0n],
    ]),
  };
}

describe('where a credit goes', () => {
  test.each([
    ['no release', null, 'available'],
    ['a release that has passed', later(-1), 'available'],
    ['a release right now', later(0), 'available'],
    ['a release one millisecond ahead', later(1), 'pending'],
    ['a release a month ahead', later(30 * 86_400_000), 'pending'],
  ])('with %s', (_name, releaseAt, kind) => {
    const command = credit({ amount: 250, releaseAt });
    const journal = decideJournal(command, standing(command));
    expect(journal.postings).toContainEqual({
      accountId: command.accountId,
      kind,
      amount: 250n,
    });
    expect(journal.release).toEqual(kind === 'pending' ? { amount: 250n, at: releaseAt } : null);
    expect(journal.suspense).toBeNull();
  });
});

describe('outcome', () => {
  test('of a credit adds the amount to what was available', () => {
    const command = credit({ amount: 5 });
    const journal = decideJournal(command, standing(command, { available: 10n, pending: 7n }));
    expect(journal.outcome).toEqual({
      event_id: journal.event.eventId,
      type: 'received_pix.credited',
      balance: { available: 15, pending: 7 },
    });
  });

  test('of a delayed credit adds the amount to what was pending', () => {
    const command = credit({ amount: 5, releaseAt: later(60_000) });
    const journal = decideJournal(command, standing(command, { available: 10n, pending: 7n }));
    expect(journal.outcome.balance).toEqual({ available: 10, pending: 12 });
  });

  test('of a suspense leaves both parts alone', () => {
    const command = suspense({ amount: 5 });
    const journal = decideJournal(command, standing(command, { available: 10n, pending: 7n }));
    expect(journal.outcome).toMatchObject({
      type: 'received_pix.suspended',
      balance: { available: 10, pending: 7 },
    });
  });

  test('may report a balance below zero, which a forced debit can leave (decision 137)', () => {
    const command = credit({ amount: 200 });
    const journal = decideJournal(command, standing(command, { available: -500n }));
    expect(journal.outcome.balance.available).toBe(-300);
    expect(journal.event.message).toMatchObject({ data: { balance: { available: -300 } } });
  });

  test('equals the sum of what stood and what moved, for all balances and amounts', () => {
    const cents = fc.bigInt({ min: 0n, max: AMOUNT_CENTS_MAX });
    const amounts = fc.integer({ min: 1, max: Number(AMOUNT_CENTS_MAX) });
    fc.assert(
      fc.property(cents, cents, amounts, (available, pending, amount) => {
        const command = credit({ amount });
        const { balance } = decideJournal(
          command,
          standing(command, { available, pending }),
        ).outcome;
        expect(BigInt(balance.available)).toBe(available + BigInt(amount));
        expect(BigInt(balance.pending)).toBe(pending);
      }),
    );
  });
});

test('no command of a received Pix ever takes money from a merchant, whatever it says', () => {
  const command = fc.oneof(
    fc.integer({ min: 1 }).map((amount) => credit({ amount })),
    fc.integer({ min: 1 }).map((amount) => credit({ amount, releaseAt: later(1) })),
    fc.integer({ min: 1 }).map((amount) => suspense({ amount })),
  );
  fc.assert(
    fc.property(command, (received) => {
      const { postings } = decideJournal(received, standing(received));
      const debits = postings.filter((posting) => posting.amount < 0n);
      expect(debits.map((posting) => posting.kind)).toEqual(['acquirer_clearing']);
      expect(debits[0]?.amount).toBe(0n - received.amount);
    }),
  );
});

describe('event', () => {
  test('is keyed by the account and names journal, command, Pix and charge', () => {
    const command = credit();
    const journal = decideJournal(command, standing(command));
    expect(journal.event).toMatchObject({
      topic: 'ledger.events.v1',
      key: command.accountId,
      sequence: null,
      message: {
        event_id: journal.event.eventId,
        occurred_at: NOW.toISOString(),
        account_id: command.accountId,
        data: {
          command_id: command.commandId,
          journal_id: journal.id,
          end_to_end_id: command.endToEndId,
          charge_id: command.chargeId,
          amount: 1_000,
        },
      },
    });
  });

  test('of money that nobody owns names no account', () => {
    const command = suspense({ accountId: null, chargeId: null, reason: 'unowned' });
    const { event } = decideJournal(command, standing(command));
    expect(event.key).toBe(PLATFORM_ACCOUNT_ID);
    expect(event.message).toMatchObject({ account_id: null });
  });
});

describe('journal', () => {
  test('is about the charge, with the digest of its command', () => {
    const command = credit();
    const journal = decideJournal(command, standing(command));
    expect(journal).toMatchObject({
      kind: 'credit_received_pix',
      commandId: command.commandId,
      resourceId: command.chargeId,
    });
    expect(journal.fingerprint).toHaveLength(32);
  });

  test('of a suspense keeps what an operator needs to decide', () => {
    const command = suspense({ amount: 77, reason: 'charge_closed' });
    expect(decideJournal(command, standing(command))).toMatchObject({
      kind: 'suspend_received_pix',
      suspense: { endToEndId: command.endToEndId, amount: 77n, reason: 'charge_closed' },
      release: null,
    });
  });

  test.each([
    ['a credit', credit()],
    ['a delayed credit', credit({ releaseAt: later(1) })],
    ['a suspense', suspense()],
    ['an unowned suspense', suspense({ accountId: null })],
  ])('of %s moves only accounts that were locked', (_name, command) => {
    const locked = new Set(accountsOf(command));
    const { postings } = decideJournal(command, standing(command));
    expect(postings.every((posting) => locked.has(posting.kind))).toBe(true);
    expect(postings.every((posting) => posting.accountId === command.accountId)).toBe(true);
  });
});
