import { HOLD_KIND_HEADER, LEDGER_EVENTS } from '@pixmesh/contracts/messages/ledger-event.v1';
import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import { describe, expect, test } from 'vitest';

import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';
import type { LedgerCommand } from '#commands/ledger-command.ts';
import type { Hold } from '#commands/outcome.ts';
import type { EventWrite } from '#decisions/batch-state.ts';
import { NOW } from '#test/batch-states.ts';
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
} from '#test/ledger-commands.ts';

import { outcomeEvent } from './outcome-event.ts';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01';
const take = holdTake({ amount: 900, fee: 30 });
const hold = (state: Hold['state']): Hold => ({
  ...take,
  kind: 'payout',
  state,
  createdAt: NOW,
});

function eventOf(command: LedgerCommand, changes: Partial<EventWrite> = {}) {
  return outcomeEvent({
    command: { ...command, traceparent: TRACE },
    code: 'booked',
    hold: null,
    moved: 'amount' in command ? command.amount : 0n,
    balances: { available: -5n, pending: 7n },
    occurredAtMs: NOW.getTime(),
    ...changes,
  });
}

const paid = payoutReturnCredit({ amount: 40 });
const left = payoutSuspend({ amount: 30 });
const lost = disputeReturn({ amount: 20 });
const back = receivedPixReturn({ amount: 60 });
const stuck = receivedPixSuspend({ amount: 9 });
const suspenseCredited = suspenseCredit(stuck, newId<AccountId>());
const received = receivedPixCredit({ amount: 250 });

describe('each outcome has its own event', () => {
  const refused = { code: 'already_settled', hold: hold('settled') } as const;
  const rows: [string, LedgerCommand, Partial<EventWrite>, object][] = [
    ['received_pix.credited', received, {}, { charge_id: received.chargeId, amount: 250 }],
    ['received_pix.suspended', receivedPixSuspend({ amount: 9 }), {}, { amount: 9 }],
    ['hold.settled', holdSettle(take), { hold: hold('settled') }, { amount: 900, fee: 30 }],
    ['hold.released', holdRelease(take), { hold: hold('released') }, { hold_id: take.holdId }],
    ['hold.end_refused', holdRelease(take), refused, { wanted: 'released', state: 'settled' }],
    ['payout_return.credited', paid, {}, { return_id: paid.returnId, payout_id: paid.payoutId }],
    ['payout.suspended', left, {}, { direction: 'out', reason: 'completed_after_failed' }],
    ['acquirer_tariff.booked', acquirerTariffBook({ amount: 3 }), {}, { amount: 3 }],
    ['dispute.blocked', disputeBlock({ amount: 20 }), {}, { amount: 20 }],
    ['dispute.unblocked', disputeUnblock({ amount: 20 }), {}, { amount: 20 }],
    ['dispute.blocked', disputeBlock({ amount: 20 }), { code: 'noted', moved: 0n }, { amount: 0 }],
    ['received_pix.returned', back, {}, { return_id: back.returnId, amount: 60 }],
    [
      'suspense.resolved',
      suspenseResolve(stuck),
      {},
      { item_id: stuck.commandId, action: 'accept' },
    ],
    ['suspense.credited', suspenseCredited, {}, { item_id: stuck.commandId, amount: 9 }],
    ['dispute.returned', lost, {}, { return_id: lost.returnId, dispute_id: lost.disputeId }],
  ];

  test.each(rows)('%s', (type, command, changes, data) => {
    const event = eventOf(command, changes);
    expect(event).toMatchObject({
      topic: 'ledger.events.v1',
      key: command.accountId,
      sequence: null,
      type,
      traceparent: TRACE,
      message: {
        event_id: event.eventId,
        type,
        occurred_at: NOW.toISOString(),
        account_id: command.accountId,
        data: {
          ...data,
          command_id: command.commandId,
          journal_id: command.commandId,
          balance: { available: -5, pending: 7 },
        },
      },
    });
  });

  test('every message of the topic has a case', () => {
    const types = new Set(rows.map(([type]) => type));
    expect([...types].toSorted()).toEqual(Object.keys(LEDGER_EVENTS).toSorted());
  });
});

test('names the application that the command named', () => {
  const applicationId = newId<ApplicationId>();
  expect(eventOf({ ...received, applicationId }).message).toMatchObject({
    application_id: applicationId,
  });
  expect(eventOf({ ...received, applicationId: null }).message).toMatchObject({
    application_id: null,
  });
});

test('of the platform’s own money names no account, and keeps its order by the platform’s key', () => {
  const event = eventOf(receivedPixSuspend({ accountId: PLATFORM_ACCOUNT_ID, chargeId: null }));
  expect(event.key).toBe(PLATFORM_ACCOUNT_ID);
  expect(event.message).toMatchObject({ account_id: null });
});

test.each([take, pendingRelease(received)])('$kind publishes no event', (command) => {
  expect(() => eventOf(command)).toThrow('publishes nothing');
});

test('the end of a hold shows by a header whose it is, where that is known', () => {
  const headersOf = (kind: Hold['kind']) =>
    eventOf(holdSettle(take), { hold: { ...hold('settled'), kind } }).headers;
  expect(headersOf('refund')).toEqual({ [HOLD_KIND_HEADER]: 'refund' });
  expect(headersOf('payout')).toEqual({ [HOLD_KIND_HEADER]: 'payout' });
  expect(headersOf(null)).toBeUndefined();
});
