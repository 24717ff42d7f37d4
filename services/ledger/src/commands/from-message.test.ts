import { LEDGER_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { MESSAGE_SAMPLES } from '@pixmesh/contracts/test/message-samples';
import { describe, expect, test } from 'vitest';

import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';

import { type CommandMessageType, FROM_MESSAGE } from './from-message.ts';
import type { LedgerCommand } from './ledger-command.ts';

const TYPES = Object.keys(LEDGER_COMMANDS) as CommandMessageType[];
/** Commands that may concern the platform's own money. */
const WITHOUT_ACCOUNT = new Set<CommandMessageType>([
  'received_pix.suspend',
  'payout.suspend',
  'acquirer_tariff.book',
  'suspense.resolve',
]);

type Sample = {
  account_id: string | null;
  application_id: string | null;
  data: Record<string, unknown> & { command_id: string };
};

describe.each(TYPES)('%s', (type) => {
  const sample = structuredClone(MESSAGE_SAMPLES[type]) as Sample;

  test('names command, owner and application', () => {
    expect(commandOf(type, sample)).toMatchObject({
      commandId: sample.data.command_id,
      accountId: sample.account_id,
      applicationId: sample.application_id,
    });
  });

  test('carries everything that it says, in lower case where it is an id', () => {
    const upper = structuredClone(sample);
    upper.account_id = upper.account_id?.toUpperCase() ?? null;
    for (const [name, value] of Object.entries(upper.data)) {
      if (/^(command|hold|resource|charge|payout|dispute|item)_id$/.test(name)) {
        upper.data[name] = typeof value === 'string' ? value.toUpperCase() : value;
      }
    }
    expect(commandOf(type, upper)).toEqual(commandOf(type, sample));
    const said = Object.values(commandOf(type, sample)).map(String);
    for (const [name, value] of Object.entries(sample.data)) {
      const text = name === 'release_at' ? String(new Date(value as string)) : String(value);
      expect(said).toContain(text);
    }
  });

  test('without an account is the platform’s, or wrong in itself', () => {
    const data = type === 'suspense.resolve' ? { ...sample.data, action: 'return' } : sample.data;
    const nobodys = { ...sample, data, account_id: null };
    if (WITHOUT_ACCOUNT.has(type)) {
      expect(commandOf(type, nobodys).accountId).toBe(PLATFORM_ACCOUNT_ID);
    } else {
      expect(() => commandOf(type, nobodys)).toThrow(
        expect.objectContaining({ code: 'MESSAGE_INVALID', retriable: false }),
      );
    }
  });
});

test('a credit says when it becomes available, or that it is at once', () => {
  const sample = MESSAGE_SAMPLES['received_pix.credit'] as Sample;
  const releaseAt = new Date(sample.data['release_at'] as string);
  expect(commandOf('received_pix.credit', sample)).toMatchObject({ releaseAt });
  const atOnce = { ...sample, data: { ...sample.data, release_at: null } };
  expect(commandOf('received_pix.credit', atOnce)).toMatchObject({ releaseAt: null });
});

test.each([
  ['accept', 'of nobody', null],
  ['hand_over', 'of an owner', '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a001'],
])('%s of an item %s is wrong in itself', (action, _whose, account_id) => {
  const sample = structuredClone(MESSAGE_SAMPLES['suspense.resolve']) as Sample;
  const message = { ...sample, account_id, data: { ...sample.data, action } };
  expect(() => commandOf('suspense.resolve', message)).toThrow(
    expect.objectContaining({ code: 'MESSAGE_INVALID' }),
  );
});

test('what nobody owns is handed over', () => {
  const sample = structuredClone(MESSAGE_SAMPLES['suspense.resolve']) as Sample;
  const message = { ...sample, account_id: null, data: { ...sample.data, action: 'hand_over' } };
  expect(commandOf('suspense.resolve', message)).toMatchObject({
    accountId: PLATFORM_ACCOUNT_ID,
    action: 'hand_over',
  });
});

function commandOf(type: CommandMessageType, message: object): LedgerCommand {
  return (FROM_MESSAGE[type] as (message: object) => LedgerCommand)(message);
}
