import { armFailpoints } from '@pixmesh/service/failpoints';
import { type AccountId, type PayoutId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { sampled } from '@pixmesh/testkit/long-runs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { checkPayoutStatus } from '#status-check/check-payout.ts';
import { leaseDuePayouts } from '#status-check/payout-checks.sql.ts';
import { anAcquirerPayout } from '#test/an-acquirer-payout.ts';
import { startSendingUnderTest, type SendingUnderTest } from '#test/sending-under-test.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';

import { claimDue } from './claim-due.sql.ts';
import { sendPayout } from './send-payout.ts';
import { ensureSlots } from './send-slots.sql.ts';

let mesh: SendingUnderTest;
beforeAll(async () => {
  mesh = await startSendingUnderTest();
  await ensureSlots(mesh.db, mesh.deps.slots);
});
afterEach(async () => {
  armFailpoints({});
  await mesh.simulator.control('DELETE', '/control/faults');
});
afterAll(async () => {
  await mesh[Symbol.asyncDispose]();
});

const NEVER_LATE = Number.POSITIVE_INFINITY;

async function aDuePayout(): Promise<PayoutId> {
  const [id] = await storeDuePayouts(mesh.db, 1);
  return id as PayoutId;
}

async function claimOne() {
  const after = '00000000-0000-0000-0000-000000000000' as AccountId;
  const options = { limit: 1, slots: mesh.deps.slots, leaseMs: 10_000, after };
  const [claim] = await claimDue(mesh.db, options);
  if (!claim) throw new Error('nothing was claimed');
  return claim;
}

/** Claims the one due payout and calls the acquirer once. */
async function sendOnce(): Promise<void> {
  await sendPayout(mesh.deps, await claimOne(), NEVER_LATE);
}

/** Claims the one due payout, whose call the acquirer's client does not send. */
async function keepBackOnce(): Promise<void> {
  const sendPayoutUnsent = () =>
    Promise.resolve({ kind: 'unknown', cause: 'breaker_open' } as const);
  const acquirer = { ...mesh.deps.acquirer, sendPayout: sendPayoutUnsent };
  await sendPayout({ ...mesh.deps, acquirer }, await claimOne(), NEVER_LATE);
}

async function kindsOf(id: PayoutId): Promise<string[]> {
  return (await mesh.journalOf(id)).map((entry) => entry.kind);
}

/** Runs both jobs, and answers for the ledger, until the payout has ended. */
async function untilEnded(id: PayoutId, changes: object = {}): Promise<string> {
  await using workers = await mesh.startWorkers(changes);
  expect(workers.sender.isAlive()).toBe(true);
  return await eventually(async () => {
    await mesh.ledger.answerAll();
    const { status } = await mesh.find(id);
    expect(['completed', 'failed']).toContain(status);
    return status;
  });
}

/** Whether a call of it may have reached the acquirer. */
async function isSent(id: PayoutId): Promise<boolean> {
  const rows = await mesh.db.query(
    sql`select from payouts where id = ${id} and first_put_at is not null`,
  );
  return rows.length === 1;
}

async function takenSlots(): Promise<unknown[]> {
  return await mesh.db.query(sql`select slot from send_slots where lease_until > now()`);
}

test('an accepted order is processing with its time and end-to-end id, announced once', async () => {
  const id = await aDuePayout();
  await sendOnce();
  const [sent] = await mesh.journalOf(id);
  expect(sent?.kind).toBe('sent');
  const payout = await mesh.find(id);
  expect(payout).toMatchObject({
    status: 'processing',
    endToEndId: sent?.end_to_end_id,
    processedAt: expect.any(Date),
    unansweredCalls: 0,
    sendAt: null,
    eventSequence: 2,
  });
  const [event] = await mesh.db.query<{ sequence: number; message: { data: object } }>(
    sql`select sequence, message from events where key = ${id}`,
  );
  expect(event).toMatchObject({
    sequence: 2,
    message: {
      type: 'payment.pix.processing',
      data: {
        status: 'processing',
        end_to_end_id: null,
        processed_at: payout.processedAt?.toISOString(),
      },
    },
  });
  expect(await takenSlots()).toEqual([]);
});

test('a refusal of the only call releases the hold at once; the payout fails when the ledger has done it', async () => {
  await mesh.faults({
    operation: 'sendPayout',
    fault: 'refusal',
    status: 422,
    code: 'pagamento_negado',
    message: 'Pagamento negado',
    count: 1,
  });
  const id = await aDuePayout();
  await sendOnce();
  expect(await mesh.find(id)).toMatchObject({
    status: 'processing',
    ending: 'release',
    endingReason: 'pagamento_negado: Pagamento negado',
    failureReason: null,
  });
  expect(await mesh.eventsOf(id)).toEqual(['hold.release']);
  await mesh.ledger.answerAll();
  await mesh.ledger.answerAll();
  expect(await mesh.find(id)).toMatchObject({
    status: 'failed',
    ending: null,
    failureReason: 'pagamento_negado: Pagamento negado',
    processedAt: null,
  });
  expect(await mesh.eventsOf(id)).toEqual(['hold.release', 'payment.pix.failed']);
  expect(await kindsOf(id)).toEqual(['refused']);
});

test('a call that the client kept back leaves an earlier one without an answer where it was', async () => {
  await mesh.faults({ operation: 'sendPayout', fault: 'error_before', status: 503, count: 1 });
  const id = await aDuePayout();
  await sendOnce();
  const { lastCallAt } = await mesh.find(id);
  await mesh.db.query(
    sql`update payouts set send_at = now() - interval '1 second' where id = ${id}`,
  );
  await keepBackOnce();
  expect(await mesh.find(id)).toMatchObject({ unansweredCalls: 1, lastCallAt, sendAt: null });
  expect(await isSent(id)).toBe(true);
  await mesh.db.query(sql`update payouts set check_at = null where id = ${id}`);
});

test('a call that the client kept back leaves a later refusal its say', async () => {
  const id = await aDuePayout();
  await keepBackOnce();
  expect(await mesh.find(id)).toMatchObject({ unansweredCalls: 0, lastCallAt: null, sendAt: null });
  expect(await isSent(id)).toBe(false);
  await mesh.faults({
    operation: 'sendPayout',
    fault: 'refusal',
    code: 'pagamento_negado',
    count: 1,
  });
  expect(await untilEnded(id)).toBe('failed');
  expect(await mesh.find(id)).toMatchObject({ uncountedRefusal: null });
  expect(await kindsOf(id)).toEqual(['refused']);
});

test('a refusal does not count while an earlier call is unanswered: it waits, and then it does', async () => {
  await mesh.faults(
    { operation: 'sendPayout', fault: 'error_before', status: 503, count: 1 },
    { operation: 'sendPayout', fault: 'refusal', code: 'pagamento_negado', count: 1 },
  );
  const id = await aDuePayout();
  await using workers = await mesh.startWorkers();
  expect(workers.statusCheck.isAlive()).toBe(true);
  const waiting = await eventually(async () => {
    const payout = await mesh.find(id);
    expect(payout.uncountedRefusal).toMatch(/^pagamento_negado: /);
    return payout;
  });
  expect(waiting).toMatchObject({ ending: null, unansweredCalls: 2, sendAt: null });
  const released = await eventually(async () => {
    const payout = await mesh.find(id);
    expect(payout.ending).toBe('release');
    return payout;
  });
  const waitedMs = released.readAt.getTime() - (released.lastCallAt?.getTime() ?? 0);
  expect(waitedMs).toBeGreaterThanOrEqual(mesh.deps.refusalWaitMs);
  expect(released.endingReason).toBe(waiting.uncountedRefusal);
  expect(await mesh.eventsOf(id)).toEqual(['hold.release']);
});

test('an order that an earlier call placed beats the refusal of a later one', async () => {
  await mesh.faults(
    { operation: 'sendPayout', fault: 'error_after', status: 504, count: 1 },
    {
      operation: 'getPayout',
      fault: 'refusal',
      status: 404,
      code: 'PixEnviadoNaoEncontrado',
      count: 2,
    },
    { operation: 'sendPayout', fault: 'refusal', code: 'pagamento_negado', count: 1 },
  );
  const id = await aDuePayout();
  expect(await untilEnded(id)).toBe('completed');
  expect(await kindsOf(id)).toContain('settled');
  expect((await kindsOf(id)).filter((kind) => kind === 'sent')).toHaveLength(1);
});

const ENDS = [
  ['error_before', { status: 500 }],
  ['error_after', { status: 500 }],
  ['hang', { delay_ms: 2_000 }],
  ['reset', {}],
  ['garbage', {}],
  ['latency', { delay_ms: 1_500 }],
  ['refusal', { status: 409, code: 'id_envio_duplicado' }],
  ['refusal', { status: 429, code: 'too_many' }],
  ['refusal', { status: 401, code: 'AcessoNegado' }],
  ['refusal', { status: 400, code: 'nobody_knows_this_code' }],
] as const;

describe.each(sampled(ENDS, 2))('a call that ends in %s %o', (fault, details) => {
  test('is settled by the check, sent again only where nothing was found, and paid once', async () => {
    await mesh.faults({ operation: 'sendPayout', fault, count: 1, ...details });
    const id = await aDuePayout();
    expect(await untilEnded(id)).toBe('completed');
    const kinds = await kindsOf(id);
    expect(kinds.filter((kind) => kind === 'sent')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'settled')).toHaveLength(1);
    expect(await mesh.eventsOf(id)).toEqual([
      'payment.pix.processing',
      'hold.settle',
      'payment.pix.completed',
    ]);
  });
});

const PLACES = [
  'payouts.submit.before-call',
  'payouts.submit.in-call',
  'payouts.submit.after-answer',
  'payouts.settle.after-commit',
] as const;

describe.each(sampled(PLACES, 1))('a sender that is torn away at %s', (name) => {
  test('leaves nothing to be guessed: the payout is paid once', async () => {
    armFailpoints({ [name]: 'error' });
    const id = await aDuePayout();
    expect(await untilEnded(id, { acquirerTimeoutMs: 500 })).toBe('completed');
    const kinds = await kindsOf(id);
    expect(kinds.filter((kind) => kind === 'sent')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'settled')).toHaveLength(1);
  });
});

test('a sender that slept past its lease does not call any more, and gives its slot back', async () => {
  const id = await aDuePayout();
  await sendPayout(mesh.deps, await claimOne(), performance.now());
  expect(await kindsOf(id)).toEqual([]);
  expect(await takenSlots()).toEqual([]);
  expect(await mesh.find(id)).toMatchObject({ unansweredCalls: 0, lastCallAt: null, sendAt: null });
  expect(await untilEnded(id)).toBe('completed');
});

test('an answer that comes after the payout has moved changes nothing', async () => {
  const id = await aDuePayout();
  const claim = await claimOne();
  await mesh.acquirer.sendPayout({
    idEnvio: id.replaceAll('-', ''),
    amountCents: claim.payout.amount,
    pixKey: 'ana@example.com',
    recipientDocument: null,
    description: null,
  });
  await mesh.db.query(sql`update payouts set check_at = '-infinity' where id = ${id}`);
  const [leased] = await leaseDuePayouts(mesh.db, 'requested', { limit: 1, leaseMs: 1_000 });
  if (!leased) throw new Error('nothing was leased');
  await checkPayoutStatus(mesh.deps, leased);
  const adopted = await mesh.find(id);
  expect(adopted.processedAt).not.toBeNull();
  // The duplicate, a refusal and a late acceptance: none of them moves the row.
  await sendPayout(mesh.deps, claim, NEVER_LATE);
  await mesh.faults({ operation: 'sendPayout', fault: 'refusal', count: 1 });
  await sendPayout(mesh.deps, claim, NEVER_LATE);
  expect(await mesh.find(id)).toMatchObject({
    version: adopted.version,
    uncountedRefusal: null,
    eventSequence: 2,
  });
});

test('an order that was accepted with another amount is never adopted', async () => {
  const id = await aDuePayout();
  const claim = await claimOne();
  const payout = anAcquirerPayout({ amountCents: toCents(claim.payout.amount + 1n) });
  const sendPayoutOtherwise = () => Promise.resolve({ kind: 'accepted', payout } as const);
  await sendPayout(
    { ...mesh.deps, acquirer: { sendPayout: sendPayoutOtherwise } },
    claim,
    NEVER_LATE,
  );
  expect(await mesh.find(id)).toMatchObject({
    unansweredCalls: 1,
    processedAt: null,
    ending: null,
  });
  expect(await mesh.eventsOf(id)).toEqual([]);
});

test('what is sent is the same order for ever: idEnvio, amount, canonical key, document and text', async () => {
  const id = await aDuePayout();
  await mesh.db.query(sql`
    update payouts
    set recipient_document = '52998224725', description = 'Repasse'
    where id = ${id}`);
  const calls: object[] = [];
  const acquirer = {
    sendPayout: async (input: Parameters<typeof mesh.acquirer.sendPayout>[0]) => {
      calls.push(input);
      return await mesh.acquirer.sendPayout(input);
    },
  };
  await sendPayout({ ...mesh.deps, acquirer }, await claimOne(), NEVER_LATE);
  expect(calls).toEqual([
    {
      idEnvio: id.replaceAll('-', ''),
      amountCents: 1_500n,
      pixKey: 'ana@example.com',
      recipientDocument: '52998224725',
      description: 'Repasse',
    },
  ]);
});

test('no key, document or amount of a payout stands in a log line', async () => {
  expect(mesh.logLines.length).toBeGreaterThan(0);
  for (const secret of ['ana@example.com', 'Ana@example.com', '52998224725']) {
    expect(mesh.logLines.join('')).not.toContain(secret);
  }
});
