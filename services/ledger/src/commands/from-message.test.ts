import { LEDGER_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { MESSAGE_SAMPLES } from '@pixmesh/contracts/messages/message-samples';
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
      if (/^(command|hold|resource|charge|payout|dispute)_id$/.test(name)) {
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
    const nobodys = { ...sample, account_id: null };
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

function commandOf(type: CommandMessageType, message: object): LedgerCommand {
  return (FROM_MESSAGE[type] as (message: object) => LedgerCommand)(message);
}
