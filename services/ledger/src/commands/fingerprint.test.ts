import type { AccountId, ChargeId, HoldId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { describe, expect, test } from 'vitest';

import {
  disputeBlock,
  receivedPixCredit,
  suspenseCredit,
  disputeReturn,
  payoutReturnCredit,
  payoutSuspend,
  receivedPixReturn,
  holdRelease,
  pendingRelease,
  suspenseResolve,
  holdSettle,
  receivedPixSuspend,
  holdTake,
  acquirerTariffBook,
  disputeUnblock,
  holdVoid,
} from '#test/ledger-commands.ts';

import { fingerprintOf } from './fingerprint.ts';
import type { LedgerCommand } from './ledger-command.ts';

const hold = holdTake({ amount: 500, fee: 7 });

/** One command of each kind. */
const COMMANDS: readonly LedgerCommand[] = [
  hold,
  holdVoid(hold),
  holdSettle(hold),
  holdRelease(hold),
  receivedPixCredit({ releaseAt: new Date('2027-01-01T00:00:00.000Z') }),
  receivedPixSuspend(),
  pendingRelease(receivedPixCredit()),
  payoutReturnCredit(),
  payoutSuspend(),
  acquirerTariffBook(),
  disputeBlock(),
  disputeUnblock(),
  disputeReturn(),
  holdTake({ endToEndId: 'E00000000202611211200refund00001' }),
  receivedPixReturn(),
  suspenseResolve(receivedPixSuspend()),
  suspenseCredit(receivedPixSuspend(), newId<AccountId>()),
];

/** Something else for each thing that a command may say. */
const OTHER = {
  accountId: newId<AccountId>(),
  resourceId: newId(),
  holdId: newId<HoldId>(),
  holdKind: 'refund',
  amount: toCents(999_999),
  fee: toCents(8),
  endToEndId: 'E00000000202611211200other000001',
  chargeId: newId<ChargeId>(),
  releaseAt: new Date('2030-01-01T00:00:00.000Z'),
  reason: 'late',
  creditId: newId(),
  payoutId: newId(),
  returnId: newId(),
  direction: 'in',
  disputeId: newId(),
  from: 'available',
  itemId: newId(),
  action: 'return',
} as const;

/** What may differ between two messages of one command: it is decided by the rest of it. */
const LENIENT: Partial<Record<LedgerCommand['kind'], readonly string[]>> = {
  'hold.take': ['holdId'],
  'hold.settle': ['endToEndId'],
  'payout.suspend': ['endToEndId'],
};

describe.each(COMMANDS.map((command) => [command.kind, command] as const))(
  '%s',
  (kind, command) => {
    test('has 128 bits in hexadecimal', () => {
      expect(fingerprintOf(command)).toMatch(/^[0-9a-f]{32}$/);
    });

    test('is the same command in any trace and of any application', () => {
      const repeated = {
        ...command,
        applicationId: newId(),
        traceparent: '00-1-2-01',
      } as LedgerCommand;
      expect(fingerprintOf(repeated)).toBe(fingerprintOf(command));
    });

    const said = Object.keys(OTHER).filter(
      (name) =>
        name in command &&
        !LENIENT[kind]?.includes(name) &&
        OTHER[name as keyof typeof OTHER] !== (command as Record<string, unknown>)[name],
    );
    test.each(said)('is another command with another %s', (name) => {
      const other: LedgerCommand = { ...command, [name]: OTHER[name as keyof typeof OTHER] };
      expect(fingerprintOf(other)).not.toBe(fingerprintOf(command));
    });
  },
);

test('no two kinds that say the same share a fingerprint', () => {
  const fingerprints = COMMANDS.map((command) =>
    fingerprintOf({ ...command, accountId: hold.accountId }),
  );
  expect(new Set(fingerprints).size).toBe(COMMANDS.length);
});

test('what received Pix said to the ledger of the first version keeps its digest', () => {
  const command = receivedPixCredit({
    accountId: '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a001' as AccountId,
    endToEndId: 'E60701190202611201530a1b2c3d4e5f',
    chargeId: '7d9f3c62-1d4e-5f0a-8a44-53c1f6b2e003' as ChargeId,
    amount: 12_345,
    releaseAt: new Date('2026-11-22T15:31:02.000Z'),
  });
  // SHA-256 of ["credit", account, end-to-end id, charge, amount, release], as it was stored then.
  expect(fingerprintOf(command)).toBe('927a818acc7e4e2cd402b51d17ff6c1b');
});
