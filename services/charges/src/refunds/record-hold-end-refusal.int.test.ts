import { HoldEndRefused } from '@pixmesh/contracts/messages/ledger-event.v1';
import type { Break } from '@pixmesh/contracts/internal/reconciliation';
import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { outboundEvent } from '@pixmesh/postgres/events';
import { sql } from '@pixmesh/postgres/sql';
import { appendEventsAndCommands } from '@pixmesh/postgres/unanswered-commands';
import { eventually } from '@pixmesh/testkit/eventually';
import { reconcile } from '@pixmesh/testkit/reconcile';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { type RefundsUnderTest, startRefundsUnderTest } from '#test/refunds-under-test.ts';

import { holdRelease } from './hold-commands.ts';
import type { RefundRow } from './refund-row.ts';

let charges: RefundsUnderTest;
beforeAll(async () => {
  charges = await startRefundsUnderTest({
    RECONCILIATION_WINDOW_MS: '1',
    RECONCILIATION_MS: '3600000',
  });
});
afterEach(async () => {
  await charges.simulator.control('DELETE', '/control/faults');
});
afterAll(async () => {
  await charges[Symbol.asyncDispose]();
});

const AMOUNT = 2_000;
const PATIENCE_MS = 20_000;

async function contradictionOf(id: string): Promise<string | null> {
  const [row] = await charges.db.query<{ kept: string | null }>(
    sql`select hold_contradiction as kept from refunds where id = ${id}`,
  );
  return row?.kept ?? null;
}

async function ignoredEventsOf(chargeId: string): Promise<object[]> {
  return await charges.db.query(
    sql`select event, detail from ignored_events where charge_id = ${chargeId}`,
  );
}

async function breaksOf(id: string): Promise<Break[]> {
  const ask = (route: string, body?: object) => charges.request(null, route, body);
  const { checks } = await reconcile(ask, true);
  const refund = checks.find(({ name }) => name === 'refund');
  return (refund?.breaks ?? []).filter((found) => found.id === id && found.kind === 'state');
}

/** What the ledger says of an end of the hold. */
async function applyRefusal(
  { id, holdId, accountId }: RefundRow,
  said: { wanted: 'settled' | 'released'; state: 'settled' | 'released' | 'voided' },
): Promise<void> {
  const command_id = newId();
  const event = outboundEvent(
    HoldEndRefused,
    { key: accountId, sequence: null },
    {
      event_id: newId(),
      type: 'hold.end_refused',
      version: 1,
      occurred_at: new Date().toISOString(),
      account_id: accountId,
      application_id: null,
      data: {
        command_id,
        journal_id: command_id,
        hold_id: holdId,
        resource_id: id,
        amount: toCents(AMOUNT),
        fee: toCents(0),
        ...said,
        balance: { available: 0n, pending: 0n },
      },
    },
  );
  await charges.publish(event);
}

test('a refund whose hold the ledger had released keeps its end, and an operator sees it', async () => {
  const charge = await charges.aPaidCharge();
  await charges.faults({ operation: 'getRefund', fault: 'refusal', status: 403, code: 'denied' });
  const asked = await charges.refund(charge.id);
  const refund = (await charges.row(asked.id)) as RefundRow;
  const command = holdRelease(refund);
  await charges.db.query(
    sql`with guard as (select 1), ${appendEventsAndCommands(sql`select from guard`, [command])} select`,
  );
  await charges.balanceIs(charge.accountId, { available: AMOUNT });
  await charges.simulator.control('DELETE', '/control/faults');
  expect((await charges.ended(asked.id)).status).toBe('completed');
  await eventually(
    async () => expect(await contradictionOf(asked.id)).toBe('released'),
    PATIENCE_MS,
  );
  expect(await ignoredEventsOf(charge.id)).toEqual([
    { event: 'refund_hold_released', detail: asked.id },
  ]);
  await eventually(async () => {
    expect(await breaksOf(asked.id)).toMatchObject([
      { expected: 'hold settled', found: 'hold released', amount: AMOUNT },
    ]);
  }, PATIENCE_MS);
  expect(await charges.row(asked.id)).toMatchObject({ status: 'completed' });
});

test('a failed refund whose hold was settled is reported once, however often the ledger event comes', async () => {
  const charge = await charges.aPaidCharge();
  await charges.faults({ operation: 'settleRefund', fault: 'refusal', count: 1 });
  const asked = await charges.refund(charge.id);
  const refund = await charges.ended(asked.id);
  expect(refund.status).toBe('failed');
  for (let times = 0; times < 3; times += 1) {
    await applyRefusal(refund, { wanted: 'released', state: 'settled' });
  }
  await eventually(
    async () => expect(await contradictionOf(asked.id)).toBe('settled'),
    PATIENCE_MS,
  );
  await eventually(async () => {
    expect(await breaksOf(asked.id)).toMatchObject([{ expected: 'hold released' }]);
  }, PATIENCE_MS);
  expect(await ignoredEventsOf(charge.id)).toHaveLength(1);
});

test('what changes nothing is no contradiction, and what no order of ours leads to is parked', async () => {
  const charge = await charges.aPaidCharge();
  const asked = await charges.refund(charge.id);
  const refund = await charges.ended(asked.id);
  expect(refund.status).toBe('completed');
  await applyRefusal(refund, { wanted: 'settled', state: 'settled' });
  await applyRefusal({ ...refund, id: newId() }, { wanted: 'settled', state: 'released' });
  await applyRefusal({ ...refund, holdId: newId() }, { wanted: 'settled', state: 'released' });
  await applyRefusal(refund, { wanted: 'released', state: 'settled' });
  await eventually(async () => {
    const parked = await charges.db.query(sql`select code from dead_letters`);
    expect(parked).toEqual([{ code: 'MESSAGE_INVALID' }, { code: 'MESSAGE_INVALID' }]);
  }, PATIENCE_MS);
  expect(await contradictionOf(asked.id)).toBeNull();
  expect(await breaksOf(asked.id)).toEqual([]);
});
