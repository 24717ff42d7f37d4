import { PAYOUT_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { deriveCommandId } from '@pixmesh/kernel/ids';
import { expect, test } from 'vitest';

import { aPayoutRow } from '#test/a-payout-row.ts';

import { holdRelease, holdSettle } from './ledger-commands.ts';

test('a release names hold and payout, under an id that is the same for ever', () => {
  const row = aPayoutRow();
  const command = holdRelease(row);
  expect(command).toMatchObject({ key: row.accountId, sequence: null, type: 'hold.release' });
  const message = PAYOUT_COMMANDS['hold.release'].schema.parse(command.message);
  expect(message.data).toEqual({
    command_id: deriveCommandId('hold_release', row.holdId),
    hold_id: row.holdId,
    resource_id: row.id,
  });
  const again = holdRelease(row);
  expect(again.eventId).not.toBe(command.eventId);
  expect(again.message).toMatchObject({ data: { command_id: message.data.command_id } });
});

test('a settlement has another id than a release, so that the loser of a race is refused', () => {
  const row = aPayoutRow();
  const settled = holdSettle(row, 'E1').message;
  const message = PAYOUT_COMMANDS['hold.settle'].schema.parse(settled);
  expect(message.data).toMatchObject({
    command_id: deriveCommandId('hold_settle', row.holdId),
    end_to_end_id: 'E1',
  });
  expect(holdRelease(row).message).not.toMatchObject({
    data: { command_id: message.data.command_id },
  });
});
