import { newId, type PayoutId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { PayoutRow } from '#payouts/payout-row.ts';
import { createPayoutMoves, movePayout } from '#payouts/move-payouts.sql.ts';
import { findAnyPayout } from '#payouts/payouts.sql.ts';
import { leaseDuePayouts, releasePayout } from '#status-check/payout-checks.sql.ts';
import { anAcquirerPayout, aReturn } from '#test/an-acquirer-payout.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';
import { storePayout } from '#test/store-payout.ts';

import { acceptPayout } from './accept-payout.ts';
import { applyLedgerEvent } from './apply-ledger-event.ts';
import type { HoldEvent } from './decide-ledger-event.ts';
import { orderEnd } from './order-end.ts';
import type { SettlementDeps } from './settlement-deps.ts';

let database: TestDatabase;
let deps: SettlementDeps;
let wakeUps = 0;
const logLines: string[] = [];
beforeAll(async () => {
  database = await createTestDatabase('payouts');
  deps = {
    db: database.db,
    moves: createPayoutMoves(database.db),
    logger: createLogger('payouts', 'warn', { write: (line) => void logLines.push(line) }),
    wakeOutbox: () => {
      wakeUps += 1;
    },
    acceptedChecks: { firstMs: 60_000, maxMs: 300_000 },
  };
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

async function aProcessingPayout(): Promise<PayoutRow> {
  const [id] = await storeDuePayouts(database.db, 1);
  return await find(id as PayoutId);
}

async function find(id: PayoutId): Promise<PayoutRow> {
  const payout = await findAnyPayout(database.db, id);
  if (payout === null) throw new Error('no such payout');
  return payout;
}

async function anOrderedEnd(kind: 'settle' | 'release'): Promise<PayoutRow> {
  const payout = await aProcessingPayout();
  const sent = anAcquirerPayout();
  const end =
    kind === 'settle' ? { kind, sent } : { kind, reason: 'AC03: no such account', sent: null };
  expect(await orderEnd(deps, payout, end)).toBe(true);
  return await find(payout.id);
}

async function applyEvent(payout: PayoutRow, event: HoldEvent, holdId: string = payout.holdId) {
  await applyLedgerEvent(deps, { payoutId: payout.id, holdId }, event);
}

async function typesOf(id: PayoutId): Promise<string[]> {
  const rows = await database.db.query<{ type: string }>(
    sql`select type from events where key = ${id} order by sequence`,
  );
  return rows.map((row) => row.type);
}

const settled = { kind: 'settled' } as const;
const released = { kind: 'released' } as const;

test('a payout is completed when the ledger has settled its hold, announced once, however often it is said', async () => {
  const payout = await anOrderedEnd('settle');
  expect(payout.status).toBe('processing');
  const wakeUpsBefore = wakeUps;
  await Promise.all(Array.from({ length: 10 }, () => applyEvent(payout, settled)));
  await applyEvent(payout, settled);
  expect(wakeUps).toBe(wakeUpsBefore + 1);
  expect(await find(payout.id)).toMatchObject({
    status: 'completed',
    ending: null,
    endingReason: null,
    failureReason: null,
    endToEndId: anAcquirerPayout().endToEndId,
  });
  expect(await typesOf(payout.id)).toEqual(['payment.pix.processing', 'payment.pix.completed']);
  const [event] = await database.db.query<{ message: { data: object } }>(
    sql`select message from events where key = ${payout.id} and type = 'payment.pix.completed'`,
  );
  expect(event?.message.data).toMatchObject({
    object: 'payment',
    status: 'completed',
    end_to_end_id: anAcquirerPayout().endToEndId,
  });
});

test('a payout has failed, with its reason, when the ledger has given its money back', async () => {
  const payout = await anOrderedEnd('release');
  await Promise.all(Array.from({ length: 10 }, () => applyEvent(payout, released)));
  expect(await find(payout.id)).toMatchObject({
    status: 'failed',
    ending: null,
    failureReason: 'AC03: no such account',
  });
  expect(await typesOf(payout.id)).toEqual(['payment.pix.failed']);
});

test('a reason that is too long is cut at 255 characters, never within one', async () => {
  const payout = await aProcessingPayout();
  const reason = `AC03: ${'🙂'.repeat(300)}`;
  await orderEnd(deps, payout, { kind: 'release', reason, sent: null });
  await applyEvent(payout, released);
  const { failureReason } = await find(payout.id);
  expect([...(failureReason ?? '')]).toHaveLength(255);
  expect(failureReason?.isWellFormed()).toBe(true);
});

/** Settled, and partly given back by the recipient's institution already. */
async function aReturnedPayout(): Promise<PayoutRow> {
  const payout = await aProcessingPayout();
  const sent = anAcquirerPayout({ status: 'settled', returns: [aReturn()] });
  expect(await orderEnd(deps, payout, { kind: 'settle', sent })).toBe(true);
  return await find(payout.id);
}

async function lease(id: PayoutId): Promise<PayoutRow | undefined> {
  const due = await leaseDuePayouts(database.db, 'routine', { limit: 1_000, leaseMs: 5_000 });
  return due.find((payout) => payout.id === id);
}

test('the check that books returns is not lost when the ledger confirms before it has begun', async () => {
  const payout = await aReturnedPayout();
  await applyEvent(payout, settled);
  expect(await lease(payout.id)).toMatchObject({ status: 'completed' });
});

test('a check that is under way when the ledger confirms may ask for another one', async () => {
  const payout = await aReturnedPayout();
  const leased = await lease(payout.id);
  if (!leased) throw new Error('nothing was leased');
  await applyEvent(payout, settled);
  expect(await lease(payout.id)).toBeUndefined();
  await releasePayout(database.db, leased, { answer: 'found', nextInMs: 0 });
  expect(await lease(payout.id)).toMatchObject({ status: 'completed' });
});

test('the release of a canceled payout is announced to nobody: its cancellation was', async () => {
  const { id } = await storePayout(database.db);
  const payout = await find(id);
  await movePayout(database.db, {
    from: payout,
    status: 'canceled',
    events: [],
    checkInMs: null,
  });
  await applyEvent(payout, released);
  expect((await find(payout.id)).status).toBe('canceled');
  expect(await typesOf(payout.id)).toEqual([]);
});

test('ends of holds that are not of payouts are left to their owners', async () => {
  await applyLedgerEvent(deps, { payoutId: newId(), holdId: newId() }, settled);
  await applyLedgerEvent(deps, { payoutId: newId(), holdId: newId() }, released);
});

test('a payout that settles under another end-to-end id than it was accepted under completes with that of its settlement', async () => {
  const [former, settled] = ['E-former', 'E-settled'] as const;
  const due = await aProcessingPayout();
  expect(await acceptPayout(deps, due, anAcquirerPayout({ endToEndId: former }))).toBe(true);
  const accepted = await find(due.id);
  const sent = anAcquirerPayout({ endToEndId: settled, status: 'settled' });
  expect(await orderEnd(deps, accepted, { kind: 'settle', sent })).toBe(true);
  await applyEvent(accepted, { kind: 'settled' });
  expect(await find(due.id)).toMatchObject({
    status: 'completed',
    endToEndId: settled,
    processedAt: accepted.processedAt,
  });
  const shown = await database.db.query<{ id: string | null }>(sql`
    select message->'data'->>'end_to_end_id' as id from events where key = ${due.id} order by sequence`);
  expect(shown.map(({ id }) => id)).toEqual([null, settled]);
});

describe('an event that no order of ours leads to', () => {
  const impossible = { code: 'MESSAGE_INVALID' };

  test('of a payout without an ordered end, or with the other one, are parked and change nothing', async () => {
    const open = await aProcessingPayout();
    await expect(applyEvent(open, settled)).rejects.toMatchObject(impossible);
    await expect(applyEvent(open, released)).rejects.toMatchObject(impossible);
    const toSettle = await anOrderedEnd('settle');
    await expect(applyEvent(toSettle, released)).rejects.toMatchObject(impossible);
    const toRelease = await anOrderedEnd('release');
    await expect(applyEvent(toRelease, settled)).rejects.toMatchObject(impossible);
    for (const payout of [open, toSettle, toRelease]) {
      expect(await find(payout.id)).toMatchObject({
        status: 'processing',
        version: payout.version,
      });
    }
  });

  test('under another hold id are parked', async () => {
    const payout = await anOrderedEnd('settle');
    await expect(applyEvent(payout, settled, newId())).rejects.toMatchObject(impossible);
    expect((await find(payout.id)).status).toBe('processing');
  });

  test('of a payout that has ended otherwise are parked', async () => {
    const payout = await anOrderedEnd('settle');
    await applyEvent(payout, settled);
    await expect(applyEvent(payout, released)).rejects.toMatchObject(impossible);
    expect((await find(payout.id)).status).toBe('completed');
  });
});

describe('an end that the ledger refuses', () => {
  async function suspensions(id: PayoutId): Promise<object[]> {
    const rows = await database.db.query<{ message: { data: object } }>(sql`
      select message from events
      where type = 'payout.suspend' and message->'data'->>'payout_id' = ${id}`);
    return rows.map((row) => row.message.data);
  }

  test('because the money had been given back: it left all the same, and goes to suspense, once', async () => {
    const payout = await anOrderedEnd('settle');
    const event = { kind: 'end_refused', wanted: 'settled', state: 'released' } as const;
    await Promise.all(Array.from({ length: 5 }, () => applyEvent(payout, event)));
    expect(await find(payout.id)).toMatchObject({
      status: 'processing',
      contradiction: 'completed_after_failed',
    });
    expect(await suspensions(payout.id)).toMatchObject([{ direction: 'out', amount: 1_500 }]);
    expect(logLines.join('')).toContain(payout.id);
  });

  test('because the money had left: an operator is told', async () => {
    const payout = await anOrderedEnd('release');
    await applyEvent(payout, { kind: 'end_refused', wanted: 'released', state: 'settled' });
    expect(await find(payout.id)).toMatchObject({ contradiction: 'failed_after_completed' });
    expect(await suspensions(payout.id)).toMatchObject([{ direction: 'in' }]);
  });

  test('because nothing was held any more: that is all a failure needs', async () => {
    const payout = await anOrderedEnd('release');
    await applyEvent(payout, { kind: 'end_refused', wanted: 'released', state: 'voided' });
    expect(await find(payout.id)).toMatchObject({ status: 'failed', contradiction: null });
  });
});

describe('acceptance', () => {
  test('is announced once by whoever learns of it first', async () => {
    const payout = await aProcessingPayout();
    const sent = anAcquirerPayout();
    const won = await Promise.all([1, 2, 3].map(() => acceptPayout(deps, payout, sent)));
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(await acceptPayout(deps, payout, sent)).toBe(false);
    const accepted = await find(payout.id);
    expect(accepted).toMatchObject({ processedAt: sent.requestedAt, eventSequence: 2 });
    expect(await orderEnd(deps, accepted, { kind: 'settle', sent })).toBe(true);
    expect(await typesOf(payout.id)).toEqual(['payment.pix.processing']);
  });

  test('of an order that has ended already makes the next check due at once', async () => {
    const payout = await aProcessingPayout();
    await acceptPayout(deps, payout, anAcquirerPayout({ status: 'settled' }));
    const [row] = await database.db.query(
      sql`select check_at <= now() as is_due from payouts where id = ${payout.id}`,
    );
    expect(row).toEqual({ is_due: true });
  });

  test('takes the payout off the queue of sends: what is accepted is not sent again', async () => {
    const payout = await aProcessingPayout();
    expect(payout.sendAt).not.toBeNull();
    await acceptPayout(deps, payout, anAcquirerPayout());
    expect((await find(payout.id)).sendAt).toBeNull();
  });
});
