import { JOURNAL_KINDS, JournalKind } from '@pixmesh/contracts/internal/journal-kinds';
import { receivedPixCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import { LEDGER_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { MESSAGE_SAMPLES } from '@pixmesh/contracts/test/message-samples';
import type { AccountId, HoldId } from '@pixmesh/kernel/ids';
import { armFailpoints } from '@pixmesh/service/failpoints';
import { readStoredStates } from '@pixmesh/testkit/read-stored-states';
import { expect, test } from 'vitest';

import { ACCOUNT_KINDS, PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';
import { fingerprintOf } from '#commands/fingerprint.ts';
import { type CommandMessageType, FROM_MESSAGE } from '#commands/from-message.ts';
import { ledgerCommandsConsumer } from '#ledger-commands.consumer.ts';
import type { LedgerCommand } from '#commands/ledger-command.ts';
import { failpoint } from '#failpoints.ts';
import { takeCommand } from '#holds/take-hold.route.ts';
import { voidCommand } from '#holds/void-hold.route.ts';
import { ledgerChecks } from '#reconciliation/ledger-checks.ts';
import { releaseCommand } from '#releases/release-pending.job.ts';

// These words stand in tables, digests and at the broker. A test that fails says that stored meaning has changed: mend
// the code, never the expected value.

const ACCOUNT_ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a001' as AccountId;
const HOLD_ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a008' as HoldId;
const RESOURCE_ID = '7d9f3c62-1d4e-5f0a-8a44-53c1f6b2e003';
const CREDIT_ID = '2c8f7b1a-6a3d-5e4b-9c10-a7d8e9f0b004';

test('commands of the topic keep their kinds and fingerprints', () => {
  const types = Object.keys(LEDGER_COMMANDS) as CommandMessageType[];
  const stored = types.map((type) => {
    const toCommand = FROM_MESSAGE[type] as (message: unknown) => LedgerCommand;
    return [type, storedFormOf(toCommand(MESSAGE_SAMPLES[type]))];
  });
  expect(Object.fromEntries(stored)).toEqual({
    'acquirer_tariff.book': ['book_acquirer_tariff', 'a90f4c83da9e510961f009e903c5023c'],
    'dispute.block': ['block_disputed', '4d44dd5274c5ecbb297d9bbc78a15739'],
    'dispute.return': ['return_disputed', '31941f759141493ee38808f040c29ee0'],
    'dispute.unblock': ['unblock_disputed', 'a17fa3977888bd111ddb397a4f9054cc'],
    'hold.release': ['release_hold', '00813b61693544eba645e8120cc1b6dc'],
    'hold.settle': ['settle_hold', 'c4e25a029fd4af60a287ad13008a6e13'],
    'payout.suspend': ['suspend_payout', '7cf2f389953aad709e8e327702a8c3d6'],
    'payout_return.credit': ['credit_payout_return', '0bb2e525cca995dec320ecbdc2a75b47'],
    'received_pix.credit': ['credit_received_pix', '833fba9392c2805d8697df6897d5e6b0'],
    'received_pix.return': ['return_received_pix', '4f10f44039eb758b12db85db05b8ccce'],
    'received_pix.suspend': ['suspend_received_pix', '8522b0e212e92a9524689688c0bd800e'],
    'suspense.credit': ['credit_suspense', '94ffd5a95e76d70455bf1b79d5c2bed4'],
    'suspense.resolve': ['resolve_suspense', 'b0bdd046e6c4a4fcb2d49c28cb8da046'],
  });
});

test('commands by HTTP and of the release job keep their kinds and fingerprints', () => {
  const owner = { account_id: ACCOUNT_ID, resource_id: RESOURCE_ID };
  const payout = { ...owner, kind: 'payout' as const, amount: 5_000n, fee: 50n };
  const end_to_end_id = 'E60701190202611201530a1b2c3d4e5f';
  const refund = { ...owner, kind: 'refund' as const, amount: 5_000n, fee: 0n, end_to_end_id };
  const credit = { creditId: CREDIT_ID, accountId: ACCOUNT_ID, amount: 1_000n };
  const commands: Record<string, LedgerCommand> = {
    'hold of a payout': takeCommand(HOLD_ID, payout),
    'hold of a refund': takeCommand(HOLD_ID, refund),
    'void of a hold': voidCommand(HOLD_ID, owner),
    'release of a pending credit': releaseCommand(credit),
  };
  const stored = Object.entries(commands).map(([name, command]) => [
    name,
    [command.commandId, ...storedFormOf(command)],
  ]);
  expect(Object.fromEntries(stored)).toEqual({
    'hold of a payout': [
      '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a008',
      'take_hold',
      '36435d6e68d488e919ddeec19948ec62',
    ],
    'hold of a refund': [
      '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a008',
      'take_hold',
      '0204caf0936bdc3fc87cfe17f36a7b4e',
    ],
    'release of a pending credit': [
      'e0b545c6-966e-511e-b58e-2923f8c80bc5',
      'release_pending',
      'c690f00990e817a1c1230327dc1b1505',
    ],
    'void of a hold': [
      'd441ec35-04c3-5d8e-9e37-725b52a90e4f',
      'void_hold',
      'db72514334c1f3f95eade666f94c3b6a',
    ],
  });
});

test('a credit is found by the id that its sender derives', () => {
  expect(receivedPixCommandId('E60701190202611201530a1b2c3d4e5f')).toEqual(
    '3f2ba929-bdf1-5d21-90a6-2f8a70c9dcbd',
  );
});

test('accounts keep their kinds, the platform its id', () => {
  expect([PLATFORM_ACCOUNT_ID, ...ACCOUNT_KINDS]).toEqual([
    '00000000-0000-7000-8000-000000000000',
    'available',
    'pending',
    'held',
    'blocked',
    'suspense',
    'acquirer_clearing',
    'fees',
    'acquirer_tariffs',
  ]);
});

test('tables keep their words', () => {
  expect(readStoredStates(new URL('../schema.sql', import.meta.url))).toEqual({
    account_kind: [
      'available',
      'pending',
      'held',
      'blocked',
      'suspense',
      'acquirer_clearing',
      'fees',
      'acquirer_tariffs',
    ],
    command_outcome: [
      'booked',
      'noted',
      'insufficient_balance',
      'unknown_pix',
      'exceeds_received',
      'voided',
      'resource_held',
      'already_held',
      'already_settled',
      'already_released',
      'already_voided',
    ],
    hold_kind: ['payout', 'refund'],
    hold_state: ['refused', 'open', 'settled', 'released', 'voided'],
    journal_kind: [
      'take_hold',
      'void_hold',
      'settle_hold',
      'release_hold',
      'credit_received_pix',
      'suspend_received_pix',
      'release_pending',
      'credit_payout_return',
      'suspend_payout',
      'book_acquirer_tariff',
      'block_disputed',
      'unblock_disputed',
      'return_disputed',
      'return_received_pix',
      'resolve_suspense',
      'credit_suspense',
    ],
  });
});

test('the contract names the kinds of journals that are stored, and no other', () => {
  const stored = readStoredStates(new URL('../schema.sql', import.meta.url));
  expect(stored['journal_kind']).toEqual(JournalKind.options);
});

test('the consumer group keeps its offsets', () => {
  const { groupId } = ledgerCommandsConsumer({
    engine: { submit: () => Promise.reject(new Error('unused')) },
    republishOutcome: () => Promise.reject(new Error('unused')),
  });
  expect(groupId).toEqual('ledger.commands');
});

test('reconciliation keeps the names under which breaks are stored', () => {
  const db = { query: () => Promise.reject(new Error('unused')) } as never;
  expect(ledgerChecks({ db }).map(({ name }) => name)).toEqual([
    'ledger_sum',
    'balance',
    'suspense',
    'hold_entries',
    'pending_entries',
    'blocked_entries',
    'outbox',
    'dead_letter',
  ]);
});

test('failpoints keep the names that tests arm', async () => {
  const actions: Record<Parameters<typeof failpoint>[0], 'error'> = {
    'ledger.command.after-commit': 'error',
    'ledger.hold.after-commit': 'error',
  };
  armFailpoints(actions);
  for (const name of Object.keys(actions) as (keyof typeof actions)[]) {
    await expect(failpoint(name)).rejects.toThrow(`failpoint ${name}`);
  }
});

function storedFormOf(command: LedgerCommand): [kind: string, fingerprint: string] {
  return [JOURNAL_KINDS[command.kind], fingerprintOf(command)];
}
