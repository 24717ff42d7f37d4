import { CHARGE_COMMANDS, PAYOUT_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { HOLD_KIND_HEADER, LEDGER_EVENTS } from '@pixmesh/contracts/messages/ledger-event.v1';
import { expect, test } from 'vitest';

import { outcomeHandlers } from './outcome-handlers.ts';

const OWNERS = { charges: CHARGE_COMMANDS, payouts: PAYOUT_COMMANDS } as const;

function handlersOf(owner: keyof typeof OWNERS) {
  const commands = Object.keys(OWNERS[owner]) as never[];
  const holdKind = owner === 'charges' ? 'refund' : 'payout';
  return outcomeHandlers({ db: {} as never, commands, holdKind }, []).handlers;
}

function typesOf(owner: keyof typeof OWNERS): string[] {
  return handlersOf(owner).map(({ message }) => message.type);
}

test('every outcome has a service that ends its command', () => {
  const handled = new Set([...typesOf('charges'), ...typesOf('payouts')]);
  expect([...handled].toSorted()).toEqual(Object.keys(LEDGER_EVENTS).toSorted());
});

test('outcomes of commands that a service never sends are not its own', () => {
  expect(typesOf('payouts')).not.toContain('received_pix.credited');
  expect(typesOf('charges')).not.toContain('payout_return.credited');
});

test('an outcome about a hold concerns the service of its kind, or both where the kind is not known', () => {
  const concerned = (owner: keyof typeof OWNERS, headers: Record<string, string>) =>
    handlersOf(owner)
      .find(({ message }) => message.type === 'hold.settled')
      ?.concerns?.(headers);
  expect(concerned('payouts', { [HOLD_KIND_HEADER]: 'payout' })).toBe(true);
  expect(concerned('charges', { [HOLD_KIND_HEADER]: 'payout' })).toBe(false);
  expect(concerned('charges', { [HOLD_KIND_HEADER]: 'refund' })).toBe(true);
  expect([concerned('charges', {}), concerned('payouts', {})]).toEqual([true, true]);
});
