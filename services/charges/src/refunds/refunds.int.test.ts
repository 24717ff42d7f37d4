import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { type RefundsUnderTest, startRefundsUnderTest } from '#test/refunds-under-test.ts';

let charges: RefundsUnderTest;

beforeAll(async () => {
  charges = await startRefundsUnderTest();
});
afterEach(async () => {
  charges.network.calm();
  await charges.simulator.control('DELETE', '/control/faults');
});
afterAll(async () => {
  await charges[Symbol.asyncDispose]();
});

test('a total refund holds at once, goes back once, and makes the charge refunded', async () => {
  const { id, accountId, endToEndId, caller } = await charges.aPaidCharge();
  const asked = await charges.refund(id);
  expect(asked.status).toBe(201);
  expect(asked.headers.has('idempotent-replayed')).toBe(false);
  expect(asked.body).toEqual({
    id: asked.id,
    object: 'refund',
    charge_id: id,
    end_to_end_id: endToEndId,
    amount: 2_000,
    status: 'processing',
    failure_reason: null,
    return_id: null,
    created_at: expect.any(String),
    completed_at: null,
  });
  expect(await charges.ledger.available(accountId)).toBe(0);
  await charges.ended(asked.id);
  expect(await charges.row(asked.id)).toMatchObject({ status: 'completed', unansweredCalls: 0 });
  expect(await charges.returnsOf(endToEndId)).toEqual([2_000]);
  const shown = await charges.request(caller, `GET /v1/charges/${id}`);
  expect(shown.body).toMatchObject({ status: 'refunded', refunded_amount: 2_000 });
  const events = await charges.eventsOf(id);
  expect(events.map(({ type }) => type)).toEqual([
    'charge.pix.created',
    'charge.pix.emitted',
    'charge.pix.paid',
    'charge.pix.refunded',
  ]);
  expect(events.at(-1)).toMatchObject({ sequence: 4, message: { data: shown.body } });
  expect((await charges.historyOf(id)).at(-1)).toMatchObject({
    to_status: 'refunded',
    cause: 'refund_completed',
    detail: asked.id,
  });
  await expect
    .poll(async () => (await charges.ledger.holdsOf(asked.id)).map(({ state }) => state))
    .toEqual(['settled']);
  await charges.balanceIs(accountId, { available: 0 });
});

test('partial refunds leave the charge paid and announce nothing until the sum is total', async () => {
  const { id, accountId, endToEndId } = await charges.aPaidCharge();
  const first = await charges.refund(id, { amount: 500 });
  await charges.ended(first.id);
  expect(await charges.charge(id)).toMatchObject({ status: 'paid', refundedAmount: 500n });
  await charges.balanceIs(accountId, { available: 1_500 });
  const second = await charges.refund(id, { amount: 300 });
  const rest = await charges.refund(id);
  expect(rest.body.amount).toBe(1_200);
  await Promise.all([charges.ended(second.id), charges.ended(rest.id)]);
  expect(await charges.charge(id)).toMatchObject({ status: 'refunded', refundedAmount: 2_000n });
  expect((await charges.returnsOf(endToEndId)).toSorted()).toEqual([1_200, 300, 500].toSorted());
  const events = (await charges.eventsOf(id)).map(({ type }) => type);
  expect(events.filter((type) => type === 'charge.pix.refunded')).toHaveLength(1);
  const listed = await charges.request(null, `GET /internal/charges/${id}/refunds`);
  expect(listed.body).toMatchObject({ object: 'list', has_more: false });
  expect(listed.body.data.map((one: { id: string }) => one.id)).toEqual([
    rest.id,
    second.id,
    first.id,
  ]);
  const causes = (await charges.historyOf(id)).map(({ cause }) => cause);
  expect(causes.filter((cause) => cause === 'refund_completed')).toHaveLength(3);
});

test('a refund that the acquirer does not carry out gives the hold back and fails', async () => {
  const { id, accountId, endToEndId } = await charges.aPaidCharge();
  await charges.faults({
    operation: 'settleRefund',
    fault: 'refusal',
    count: 1,
    code: 'AB03',
    message: 'no answer',
  });
  const asked = await charges.refund(id);
  const row = await charges.ended(asked.id);
  expect(row.status).toBe('failed');
  expect(row.failureReason).toMatch(/^NAO_REALIZADO: /);
  await charges.balanceIs(accountId, { available: 2_000 });
  expect(await charges.charge(id)).toMatchObject({ status: 'paid', refundedAmount: 0n });
  expect(await charges.returnsOf(endToEndId)).toEqual([]);
  // The rest is whole again, and another key begins anew.
  const again = await charges.refund(id);
  expect((await charges.ended(again.id)).status).toBe('completed');
});

describe('one key', () => {
  test('is one refund, however often it is requested and whatever became of the charge', async () => {
    const { id, endToEndId } = await charges.aPaidCharge();
    const refundId = newId();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => charges.refund(id, {}, refundId)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
    const first = answers.filter(({ headers }) => !headers.has('idempotent-replayed'));
    expect(first).toHaveLength(1);
    await charges.ended(refundId);
    const later = await charges.refund(id, {}, refundId);
    expect(later.headers.get('idempotent-replayed')).toBe('true');
    expect(later.headers.has('idempotency-mismatch')).toBe(false);
    expect(later.body).toMatchObject({ id: refundId, status: 'completed', amount: 2_000 });
    expect(later.body.return_id).toMatch(/^D/);
    expect(await charges.returnsOf(endToEndId)).toEqual([2_000]);
  });

  test.each([
    ['another amount', { amount: 1 }],
    ['all that is left', {}],
    ['what is no amount', { amount: 'x' }],
    ['what is no object', null],
  ])('with %s is a mismatch, answered with the refund', async (_name, body) => {
    const { id } = await charges.aPaidCharge();
    const asked = await charges.refund(id, { amount: 700 });
    const again = await charges.refund(id, body, asked.id);
    expect(again.status).toBe(201);
    expect(again.headers.get('idempotency-mismatch')).toBe('true');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toMatchObject({ id: asked.id, amount: 700 });
  });

  test('on another charge of the account is a mismatch, of another account unknown', async () => {
    const one = await charges.aPaidCharge();
    const other = await charges.aPaidCharge(1_000, one.accountId);
    const asked = await charges.refund(one.id, { amount: 700 });
    const again = await charges.refund(other.id, { amount: 700 }, asked.id);
    expect(again.headers.get('idempotency-mismatch')).toBe('true');
    expect(again.body.charge_id).toBe(one.id);
    const stranger = await charges.aPaidCharge();
    const foreign = await charges.refund(stranger.id, { amount: 700 }, asked.id);
    expect([foreign.status, foreign.body.code]).toEqual([404, 'CHARGE_NOT_FOUND']);
  });

  test('is free again where funds lacked, and succeeds once they have come', async () => {
    const { id, accountId } = await charges.aPaidCharge();
    await charges.ledger.ask(`PUT /internal/holds/${newId()}`, null, {
      account_id: accountId,
      resource_id: newId(),
      kind: 'payout',
      amount: 1_500,
      fee: 0,
    });
    const refused = await charges.refund(id);
    expect([refused.status, refused.body.code]).toEqual([400, 'INSUFFICIENT_BALANCE']);
    expect(await charges.row(refused.id)).toBeNull();
    await charges.aPaidCharge(1_500, accountId);
    const again = await charges.refund(id, {}, refused.id);
    expect(again.status).toBe(201);
    expect(again.headers.has('idempotent-replayed')).toBe(false);
    expect((await charges.ended(refused.id)).status).toBe('completed');
    const states = (await charges.ledger.holdsOf(refused.id)).map(({ state }) => state);
    expect(states.filter((state) => state !== 'refused')).toHaveLength(1);
  });
});

test('after 90 days a charge is not refunded any more', async () => {
  const { id } = await charges.aPaidCharge();
  await charges.db.query(
    sql`update charges set paid_at = now() - interval '90 days 1 second' where id = ${id}`,
  );
  const answer = await charges.refund(id);
  expect([answer.status, answer.body.code]).toEqual([409, 'CHARGE_NOT_REFUNDABLE']);
});

describe('a call that cannot be', () => {
  test('names no charge: 404, with or without a proper id', async () => {
    for (const id of [newId(), 'nothing']) {
      const answer = await charges.refund(id);
      expect([answer.status, answer.body.code]).toEqual([404, 'CHARGE_NOT_FOUND']);
    }
    const listed = await charges.request(null, `GET /internal/charges/${newId()}/refunds`);
    expect([listed.status, listed.body.code]).toEqual([404, 'CHARGE_NOT_FOUND']);
  });

  test('comes from a tenant: 401', async () => {
    const { caller, id } = await charges.aPendingCharge();
    const answer = await charges.request(caller, `POST /internal/charges/${id}/refunds`, {});
    expect(answer.status).toBe(401);
    const listed = await charges.request(caller, `GET /internal/charges/${id}/refunds`);
    expect(listed.status).toBe(401);
  });

  test('asks for an unpaid charge: 409, nothing stored', async () => {
    const { id } = await charges.aPendingCharge();
    const answer = await charges.refund(id);
    expect([answer.status, answer.body.code]).toEqual([409, 'CHARGE_NOT_REFUNDABLE']);
    expect(await charges.row(answer.id)).toBeNull();
  });

  test('asks for what is not an amount: 400; for more than is left: 422', async () => {
    const { id } = await charges.aPaidCharge();
    for (const body of [{ amount: 0 }, { amount: 1.5 }, { amount: '5' }]) {
      const answer = await charges.refund(id, body);
      expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
      expect(answer.body.details).toEqual(['amount']);
    }
    const broken = await charges.refund(id, null);
    expect([broken.status, broken.body.details]).toEqual([400, ['body']]);
    const more = await charges.refund(id, { amount: 2_001 });
    expect([more.status, more.body.code]).toEqual([422, 'REFUND_EXCEEDS_CHARGE']);
    expect(await charges.row(more.id)).toBeNull();
  });
});
