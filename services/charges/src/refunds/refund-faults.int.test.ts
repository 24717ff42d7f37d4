import { createAcquirer } from '@pixmesh/acquirer/client';
import { armFailpoints } from '@pixmesh/service/failpoints';
import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { sampled } from '@pixmesh/testkit/long-runs';
import { SIMULATOR_CREDENTIALS } from '@pixmesh/testkit/simulator-process';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { type RefundsUnderTest, startRefundsUnderTest } from '#test/refunds-under-test.ts';

let charges: RefundsUnderTest;

beforeAll(async () => {
  charges = await startRefundsUnderTest({ DISPUTE_LIST_MS: '200' });
});
afterEach(async () => {
  armFailpoints({});
  charges.network.calm();
  await charges.simulator.control('DELETE', '/control/faults');
});
afterAll(async () => {
  await charges[Symbol.asyncDispose]();
});

const AMOUNT = 2_000;
const TAKE = ['PUT', /^\/internal\/holds\/[^/]+$/] as const;

function fault(operation: string, kind: string, more: object = {}) {
  return { operation, fault: kind, count: 1, ...more };
}

type Paid = Awaited<ReturnType<RefundsUnderTest['aPaidCharge']>>;

/** One refund, one return, one settled hold, one entry of history, and the balance without it. */
async function expectRefundedOnce(charge: Paid, refundId: string): Promise<void> {
  const row = await charges.ended(refundId);
  expect(row).toMatchObject({ status: 'completed', returnId: expect.stringMatching(/^D/) });
  expect(await charges.returnsOf(charge.endToEndId)).toEqual([AMOUNT]);
  await charges.balanceIs(charge.accountId, { available: 0 });
  await eventually(async () => {
    const states = (await charges.ledger.holdsOf(refundId)).map(({ state }) => state);
    expect(states.filter((state) => state !== 'voided')).toEqual(['settled']);
  });
  expect(await charges.charge(charge.id)).toMatchObject({
    status: 'refunded',
    refundedAmount: BigInt(AMOUNT),
  });
  const causes = (await charges.historyOf(charge.id)).map(({ cause }) => cause);
  expect(causes.filter((cause) => cause === 'refund_completed')).toHaveLength(1);
  expect(await commandsOf(refundId)).toEqual(['hold.settle']);
}

/** Nothing of it is left, and the money is where it was. */
async function expectNothing(charge: Paid, refundId: string): Promise<void> {
  expect(await charges.row(refundId)).toBeNull();
  const states = (await charges.ledger.holdsOf(refundId)).map(({ state }) => state);
  expect(states.filter((state) => state === 'open')).toEqual([]);
  expect(await charges.ledger.available(charge.accountId)).toBe(AMOUNT);
}

async function commandsOf(refundId: string): Promise<string[]> {
  const rows = await charges.db.query<{ type: string }>(sql`
    select type from events
    where topic = 'ledger.commands.v1' and message->'data'->>'resource_id' = ${refundId}`);
  return rows.map(({ type }) => type);
}

/** What the job does with an intent that has come due. */
async function letIntentComeDue(refundId: string): Promise<void> {
  await charges.db.query(
    sql`update refunds set check_at = now() - interval '1 second' where id = ${refundId}`,
  );
  await eventually(async () => {
    expect((await charges.row(refundId))?.status ?? 'dropped').not.toBe('intent');
  });
}

describe('an order whose answer is lost', () => {
  test.each(sampled(['error_before', 'error_after', 'hang', 'reset', 'garbage'], 1))(
    '(%s) is checked, and goes back once',
    async (kind) => {
      const charge = await charges.aPaidCharge();
      await charges.faults(fault('refund', kind));
      const asked = await charges.refund(charge.id);
      expect(asked.status).toBe(201);
      await expectRefundedOnce(charge, asked.id);
    },
  );

  test('and whose status checks fail for a while keeps its hold, and ends once', async () => {
    const charge = await charges.aPaidCharge();
    await charges.faults(
      fault('refund', 'error_after'),
      fault('getRefund', 'error_before', { count: 4 }),
    );
    const asked = await charges.refund(charge.id);
    await expectRefundedOnce(charge, asked.id);
  });
});

describe('a refusal', () => {
  test('of the only call fails the refund at once, and gives the hold back', async () => {
    const charge = await charges.aPaidCharge();
    const said = { status: 400, code: 'valor_invalido', message: 'no such amount' };
    await charges.faults(fault('refund', 'refusal', said));
    const asked = await charges.refund(charge.id);
    const row = await charges.ended(asked.id);
    expect(row).toMatchObject({ status: 'failed', unansweredCalls: 1 });
    expect(row.failureReason).toMatch(/^valor_invalido: /);
    await charges.balanceIs(charge.accountId, { available: AMOUNT });
    expect(await charges.charge(charge.id)).toMatchObject({ status: 'paid', refundedAmount: 0n });
    expect(await commandsOf(asked.id)).toEqual(['hold.release']);
  });

  test('after a call that ended unknown waits, and counts only while nothing turns up', async () => {
    const charge = await charges.aPaidCharge();
    const said = { status: 400, code: 'valor_invalido' };
    await charges.faults(fault('refund', 'error_before'), fault('refund', 'refusal', said));
    const asked = await charges.refund(charge.id);
    await eventually(async () => {
      expect(await charges.row(asked.id)).toMatchObject({
        status: 'processing',
        unansweredCalls: 2,
        uncountedRefusal: expect.stringMatching(/^valor_invalido: /),
      });
    });
    expect(await charges.ledger.available(charge.accountId)).toBe(0);
    const row = await charges.ended(asked.id);
    expect(row.status).toBe('failed');
    expect(row.failureReason).toMatch(/^valor_invalido: /);
    await charges.balanceIs(charge.accountId, { available: AMOUNT });
    expect(await charges.returnsOf(charge.endToEndId)).toEqual([]);
  });

  test.each(sampled([401, 403, 408, 429], 1))(
    'is none with status %i: the order is repeated',
    async (status) => {
      const charge = await charges.aPaidCharge();
      await charges.faults(fault('refund', 'refusal', { status, code: 'valor_invalido' }));
      const asked = await charges.refund(charge.id);
      await expectRefundedOnce(charge, asked.id);
    },
  );
});

describe('the end of a refund, whichever check sees it first', () => {
  test('a check of the charge ends a refund whose own checks learn nothing', async () => {
    const charge = await charges.aPaidCharge();
    await charges.faults({ operation: 'getRefund', fault: 'refusal', status: 403, code: 'denied' });
    const asked = await charges.refund(charge.id);
    await eventually(async () => {
      expect(await charges.returnsOf(charge.endToEndId)).toEqual([AMOUNT]);
    });
    await charges.announce(charge.id);
    await expectRefundedOnce(charge, asked.id);
  });

  test('a check of the charge ends a refund that was not carried out, too', async () => {
    const charge = await charges.aPaidCharge();
    await charges.faults(
      { operation: 'getRefund', fault: 'refusal', status: 403, code: 'denied' },
      fault('settleRefund', 'refusal', { code: 'AM04', message: 'no funds' }),
    );
    const asked = await charges.refund(charge.id);
    await eventually(async () => {
      await charges.announce(charge.id);
      expect((await charges.row(asked.id))?.status).toBe('failed');
    });
    await charges.balanceIs(charge.accountId, { available: AMOUNT });
    expect(await commandsOf(asked.id)).toEqual(['hold.release']);
  });

  test('both at once end it once', async () => {
    const charge = await charges.aPaidCharge();
    const asked = await charges.refund(charge.id);
    for (let times = 0; times < 20; times += 1) await charges.announce(charge.id);
    await expectRefundedOnce(charge, asked.id);
    await charges.announce(charge.id);
    await expectRefundedOnce(charge, asked.id);
  });
});

describe('a ledger that does not answer', () => {
  test.each(['lost', 'answer_lost'] as const)(
    '(%s) is 500, and the same key repeats the hold',
    async (trouble) => {
      const charge = await charges.aPaidCharge();
      charges.network.trouble(...TAKE, trouble);
      const asked = await charges.refund(charge.id);
      expect([asked.status, asked.body.code]).toEqual([500, 'INTERNAL_ERROR']);
      expect((await charges.row(asked.id))?.status).toBe('intent');
      const again = await charges.refund(charge.id, {}, asked.id);
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
      expect(await charges.ledger.holdsOf(asked.id)).toHaveLength(1);
      await expectRefundedOnce(charge, asked.id);
    },
  );

  test('whose hold is on its way is defeated by the void; the call begins anew and is the first', async () => {
    const charge = await charges.aPaidCharge();
    const way = Promise.withResolvers<void>();
    charges.network.trouble(...TAKE, way.promise);
    const refundId = newId();
    const answering = charges.refund(charge.id, {}, refundId);
    await expect.poll(() => charges.row(refundId)).not.toBeNull();
    await letIntentComeDue(refundId);
    way.resolve();
    const answer = await answering;
    expect([answer.status, answer.headers.has('idempotent-replayed')]).toEqual([201, false]);
    await expectRefundedOnce(charge, refundId);
  });
});

describe('a call that dies', () => {
  async function die(place: Parameters<typeof armFailpoints>[0]) {
    const charge = await charges.aPaidCharge();
    armFailpoints(place);
    const asked = await charges.refund(charge.id);
    expect([asked.status, asked.body.code]).toEqual([500, 'INTERNAL_ERROR']);
    return { charge, id: asked.id };
  }

  test('before its intent leaves nothing; a repeat is the first', async () => {
    const { charge, id } = await die({ 'charges.refund.before-insert': 'error' });
    await expectNothing(charge, id);
    const again = await charges.refund(charge.id, {}, id);
    expect(again.headers.has('idempotent-replayed')).toBe(false);
    await expectRefundedOnce(charge, id);
  });

  test('after its intent is never shown, and the same key goes on with its hold', async () => {
    const { charge, id } = await die({ 'charges.refund.after-intent': 'error' });
    const intent = await charges.row(id);
    expect(intent?.status).toBe('intent');
    const listed = await charges.request(null, `GET /internal/charges/${charge.id}/refunds`);
    expect(listed.body.data).toEqual([]);
    const again = await charges.refund(charge.id, {}, id);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await charges.row(id))?.holdId).toBe(intent?.holdId);
    await expectRefundedOnce(charge, id);
  });

  test('after its intent counts as under way until the job drops it; then the key is free', async () => {
    const { charge, id } = await die({ 'charges.refund.after-intent': 'error' });
    expect((await charges.refund(charge.id)).body.code).toBe('REFUND_EXCEEDS_CHARGE');
    await letIntentComeDue(id);
    await expectNothing(charge, id);
    const again = await charges.refund(charge.id, {}, id);
    expect(again.headers.has('idempotent-replayed')).toBe(false);
    await expectRefundedOnce(charge, id);
  });

  test('after its hold is finished by the job, which takes no hold and releases none', async () => {
    const { charge, id } = await die({ 'charges.refund.after-hold': 'error' });
    expect(await charges.ledger.available(charge.accountId)).toBe(0);
    await letIntentComeDue(id);
    await expectRefundedOnce(charge, id);
  });

  test('after its commit is a refund; a repeat returns it', async () => {
    const { charge, id } = await die({ 'charges.refund.after-commit': 'error' });
    const again = await charges.refund(charge.id, {}, id);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    await expectRefundedOnce(charge, id);
  });
});

const PLACES = [
  'charges.refund.before-call',
  'charges.refund.in-call',
  'charges.refund.after-answer',
  'charges.refund.before-end',
  'charges.refund.after-end',
] as const;

// Each waits for the end of a lease.
test.each(sampled(PLACES, 1))(
  'a job that dies at %s: another check ends the refund once',
  async (place) => {
    const charge = await charges.aPaidCharge();
    armFailpoints({ [place]: 'error' });
    const asked = await charges.refund(charge.id);
    expect(asked.status).toBe(201);
    await expectRefundedOnce(charge, asked.id);
  },
);

test('an intent of a charge that was charged back meanwhile is dropped, and its key refused', async () => {
  const charge = await charges.aPaidCharge();
  armFailpoints({ 'charges.refund.after-intent': 'error' });
  const asked = await charges.refund(charge.id, { amount: 500 });
  await charges.simulator.control('POST', `/control/pix/${charge.endToEndId}/returns`, {
    amount: 300,
    natureza: 'MED_FRAUDE',
  });
  await eventually(async () => {
    await charges.announce(charge.id);
    expect((await charges.charge(charge.id)).status).toBe('charged_back');
  });
  const again = await charges.refund(charge.id, { amount: 500 }, asked.id);
  expect([again.status, again.body.code]).toEqual([409, 'CHARGE_NOT_REFUNDABLE']);
  expect(await charges.row(asked.id)).toBeNull();
  await charges.balanceIs(charge.accountId, { available: AMOUNT - 300 });
});

test('money of a failed refund that went back all the same is booked as a return by itself', async () => {
  const charge = await charges.aPaidCharge();
  const said = { status: 400, code: 'valor_invalido' };
  await charges.faults(fault('refund', 'refusal', said));
  const { id } = await charges.refund(charge.id);
  expect((await charges.ended(id)).status).toBe('failed');
  await charges.balanceIs(charge.accountId, { available: AMOUNT });
  const { clientId, clientSecret, pixKey } = SIMULATOR_CREDENTIALS;
  const { url } = charges.simulator;
  await using acquirer = createAcquirer({ url, clientId, clientSecret, pixKey, timeoutMs: 5_000 });
  const refundId = toAcquirerId(id);
  const amountCents = BigInt(AMOUNT);
  const late = await acquirer.refund({ endToEndId: charge.endToEndId, refundId, amountCents });
  expect(late.kind).toBe('accepted');
  await eventually(async () => {
    await charges.announce(charge.id);
    expect(await charges.charge(charge.id)).toMatchObject({
      status: 'refunded',
      refundedAmount: BigInt(AMOUNT),
    });
  });
  expect((await charges.row(id))?.status).toBe('failed');
  await charges.balanceIs(charge.accountId, { available: 0 });
});

test('a full refund of a disputed Pix is taken from its block, and closes the dispute as lost', async () => {
  const charge = await charges.aPaidCharge();
  const { endToEndId: end_to_end_id } = charge;
  await charges.simulator.control('POST', '/control/disputes', { end_to_end_id, reason: 'scam' });
  await eventually(async () => {
    expect((await charges.charge(charge.id)).status).toBe('infraction');
  }, 20_000);
  await charges.balanceIs(charge.accountId, { available: 0, blocked: AMOUNT });
  const { id, status } = await charges.refund(charge.id);
  expect(status).toBe(201);
  await expectRefundedOnce(charge, id);
  await charges.balanceIs(charge.accountId, { available: 0, blocked: 0 });
  const events = (await charges.eventsOf(charge.id)).filter(({ sequence }) => sequence !== null);
  expect(events.map(({ type }) => type).slice(-2)).toEqual([
    'charge.pix.refunded',
    'dispute.pix.lost',
  ]);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
});
