import { createHmac, randomUUID } from 'node:crypto';

import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { describe, expect, test } from 'vitest';

import { findBreaks, leaveBreak } from './find-breaks.ts';
import {
  admin,
  availableOf,
  balanceOf,
  type Json,
  type Merchant,
  received,
  simulator,
  secretsOfHome,
  stack,
  v1,
} from './mesh.ts';
import {
  AMOUNT_CENTS,
  anOperator,
  aPayingMerchant,
  aPayoutBody,
  COST_CENTS,
  createPayout,
  FEE_CENTS,
  fund,
  payoutIdOf,
  readPayout,
  returnAtAcquirer,
  sendsOf,
  waitForPayout,
} from './payout-calls.ts';

const FUNDS_CENTS = 5_000;

/** A webhook of its own for one payout. */
function aHook(): { path: string; secret: string; fields: object } {
  const path = `/${randomUUID()}`;
  const secret = `whsec_${randomUUID()}`;
  const webhook_url = `http://shop.receiver.example.com${path}`;
  return { path, secret, fields: { webhook_url, webhook_secret: secret } };
}

/** The events that arrived on a hook, each with a right signature, by name. */
async function signedEvents(hook: { path: string; secret: string }): Promise<Map<string, Json>> {
  const events = new Map<string, Json>();
  for (const request of await received(hook.path)) {
    const bytes = Buffer.from(request.body_base64, 'base64');
    const digest = createHmac('sha256', hook.secret).update(bytes).digest('hex');
    expect(request.headers['x-webhook-signature']).toBe(`sha256=${digest}`);
    const body = JSON.parse(bytes.toString());
    expect(events.has(body.event)).toBe(false);
    events.set(body.event, body);
  }
  return events;
}

async function expectEvents(hook: { path: string; secret: string }, names: string[]) {
  return await eventually(async () => {
    const events = await signedEvents(hook);
    expect([...events.keys()].toSorted()).toEqual(names.toSorted());
    return events;
  }, 20_000);
}

describe('a payout without approval', () => {
  test('costs amount and fee at once, is sent and settled once, and is announced by signed deliveries', async () => {
    const merchant = await aPayingMerchant(FUNDS_CENTS);
    const hook = aHook();
    const key = randomUUID();
    const created = await createPayout(merchant, { reference: 'saque-1', ...hook.fields }, key);
    expect(created.status).toBe(201);
    expect(created.headers.get('idempotent-replayed')).toBeNull();
    expect(created.body).toMatchObject({
      object: 'payout',
      id: payoutIdOf(merchant, key),
      status: 'processing',
      method: 'pix',
      amount: AMOUNT_CENTS,
      fee: FEE_CENTS,
      currency: 'BRL',
      end_to_end_id: null,
      processed_at: null,
      failure_reason: null,
      recipient: {
        name: null,
        document: null,
        pix_key_type: 'email',
        pix_key: merchant.recipientKey,
      },
    });
    expect(await availableOf(merchant)).toBe(FUNDS_CENTS - COST_CENTS);
    const completed = await waitForPayout(merchant, created.body.id, 'completed');
    expect(completed.end_to_end_id).toMatch(/^E[0-9A-Za-z]{31}$/);
    expect(Date.parse(completed.processed_at)).toBeGreaterThan(0);
    expect(await availableOf(merchant)).toBe(FUNDS_CENTS - COST_CENTS);
    const sends = await sendsOf(created.body.id);
    expect(sends.map((one) => [one.kind, one.amount, one.end_to_end_id])).toEqual([
      ['sent', AMOUNT_CENTS, completed.end_to_end_id],
      ['settled', AMOUNT_CENTS, completed.end_to_end_id],
    ]);
    const events = await expectEvents(hook, ['payment.pix.created', 'payment.pix.processing']);
    expect(events.get('payment.pix.created')?.data).toEqual({ ...created.body, object: 'payment' });
    expect(events.get('payment.pix.processing')?.data).toMatchObject({
      id: created.body.id,
      object: 'payment',
      status: 'processing',
      end_to_end_id: null,
      processed_at: completed.processed_at,
    });
  });

  test('is listed for its account, and for nobody else there is no such payout', async () => {
    const owner = await aPayingMerchant(FUNDS_CENTS);
    const other = await aPayingMerchant(0);
    const first = await createPayout(owner);
    const second = await createPayout(owner);
    await waitForPayout(owner, second.body.id, 'completed');
    const listed = await v1(owner, 'GET /payouts?limit=1');
    expect(listed.body).toMatchObject({ object: 'list', has_more: true });
    expect(listed.body.data.map((one: Json) => one.id)).toEqual([second.body.id]);
    const rest = await v1(owner, `GET /payouts?starting_after=${second.body.id}`);
    expect(rest.body.data.map((one: Json) => one.id)).toEqual([first.body.id]);
    expect((await v1(other, 'GET /payouts')).body.data).toEqual([]);
    for (const id of [first.body.id, randomUUID(), 'not-a-uuid']) {
      const answer = await v1(other, `GET /payouts/${id}`);
      expect([answer.status, answer.body.code]).toEqual([404, 'PAYOUT_NOT_FOUND']);
    }
  });

  test('that the acquirer refuses is failed, with amount and fee back once and the reason told', async () => {
    const merchant = await aPayingMerchant(FUNDS_CENTS);
    const hook = aHook();
    await simulator.addFaults(merchant, [
      {
        operation: 'sendPayout',
        fault: 'refusal',
        count: 1,
        code: 'pagamento_negado',
        message: 'Pagamento negado',
      },
    ]);
    const created = await createPayout(merchant, hook.fields);
    const failed = await waitForPayout(merchant, created.body.id, 'failed');
    expect(failed.failure_reason).toContain('pagamento_negado');
    expect(failed.end_to_end_id).toBeNull();
    expect(await availableOf(merchant)).toBe(FUNDS_CENTS);
    expect((await sendsOf(created.body.id)).map((one) => one.kind)).toEqual(['refused']);
    const events = await expectEvents(hook, ['payment.pix.created', 'payment.pix.failed']);
    expect(events.get('payment.pix.failed')?.data).toEqual({ ...failed, object: 'payment' });
  });

  test('that was returned after it had completed stays completed, and its money is credited once', async () => {
    const merchant = await aPayingMerchant(FUNDS_CENTS);
    const created = await createPayout(merchant);
    const completed = await waitForPayout(merchant, created.body.id, 'completed');
    const returned = await returnAtAcquirer(completed.end_to_end_id, { natureza: 'ORIGINAL' });
    expect(returned.status).toBeLessThan(300);
    await eventually(async () => {
      expect(await availableOf(merchant)).toBe(FUNDS_CENTS - FEE_CENTS);
    }, 30_000);
    expect(await readPayout(merchant, created.body.id)).toEqual(completed);
  });

  test('that was returned without a word from the acquirer is credited all the same', async () => {
    const merchant = await aPayingMerchant(FUNDS_CENTS);
    const created = await createPayout(merchant);
    const completed = await waitForPayout(merchant, created.body.id, 'completed');
    await simulator.addFaults(merchant, [{ operation: 'callback', fault: 'drop', count: 1 }]);
    await returnAtAcquirer(completed.end_to_end_id, { natureza: 'ORIGINAL' });
    await eventually(async () => {
      expect(await availableOf(merchant)).toBe(FUNDS_CENTS - FEE_CENTS);
    }, 60_000);
  });

  test('is refused before it begins when the account may not pay out', async () => {
    const merchant = await aPayingMerchant(FUNDS_CENTS, { payouts_enabled: false });
    const key = randomUUID();
    const refused = await createPayout(merchant, {}, key);
    expect([refused.status, refused.body.code]).toEqual([422, 'PAYOUTS_DISABLED']);
    await admin('PATCH', `/admin/accounts/${merchant.accountId}`, { payouts_enabled: true });
    const created = await createPayout(merchant, {}, key);
    expect([created.status, created.headers.get('idempotent-replayed')]).toEqual([201, null]);
    await waitForPayout(merchant, created.body.id, 'completed');
  });
});

describe('a payout that waits for approval', () => {
  const queued = { auto_payout_enabled: false };

  test('holds its money while it waits, and is sent once an operator has approved it', async () => {
    const merchant = await aPayingMerchant(FUNDS_CENTS, queued);
    const hook = aHook();
    const created = await createPayout(merchant, hook.fields);
    expect([created.status, created.body.status]).toEqual([201, 'pending']);
    expect(await availableOf(merchant)).toBe(FUNDS_CENTS - COST_CENTS);
    const operator = await anOperator();
    const path = `/admin/payouts/${created.body.id}`;
    const approved = await operator.call('POST', `${path}/approve`, {});
    expect([approved.status, approved.body.status]).toEqual([200, 'processing']);
    expect((await operator.call('POST', `${path}/approve`, {})).status).toBe(200);
    const lost = await operator.call('POST', `${path}/cancel`, {});
    expect([lost.status, lost.body.code]).toEqual([409, 'PAYOUT_NOT_PENDING']);
    await waitForPayout(merchant, created.body.id, 'completed');
    expect((await sendsOf(created.body.id)).map((one) => one.kind)).toEqual(['sent', 'settled']);
    const events = await expectEvents(hook, ['payment.pix.created', 'payment.pix.processing']);
    expect(events.get('payment.pix.created')?.data.status).toBe('pending');
    const seen = await operator.call('GET', path);
    expect(seen.body).toMatchObject({ status: 'completed', approved_by: operator.id });
    const audit = await operator.call('GET', `/admin/audit?target_id=${created.body.id}`);
    expect(audit.body.data).not.toEqual([]);
  });

  test('is canceled without ever being sent, and gives amount and fee back', async () => {
    const merchant = await aPayingMerchant(FUNDS_CENTS, queued);
    const hook = aHook();
    const created = await createPayout(merchant, hook.fields);
    const operator = await anOperator();
    const path = `/admin/payouts/${created.body.id}`;
    const canceled = await operator.call('POST', `${path}/cancel`, {});
    expect([canceled.status, canceled.body.status]).toEqual([200, 'canceled']);
    await eventually(async () => expect(await availableOf(merchant)).toBe(FUNDS_CENTS));
    const late = await operator.call('POST', `${path}/approve`, {});
    expect([late.status, late.body.code]).toEqual([409, 'PAYOUT_NOT_PENDING']);
    expect((await readPayout(merchant, created.body.id)).status).toBe('canceled');
    await expectEvents(hook, ['payment.pix.created', 'payment.pix.canceled']);
    expect(await sendsOf(created.body.id)).toEqual([]);
  });

  test('of an operator needs another one, even where payouts of the API need none', async () => {
    const merchant = await aPayingMerchant(FUNDS_CENTS);
    const [requester, approver] = [await anOperator(), await anOperator()];
    const requested = await requester.call(
      'POST',
      `/admin/accounts/${merchant.accountId}/payouts`,
      aPayoutBody(merchant),
    );
    expect([requested.status, requested.body.status]).toEqual([201, 'pending']);
    const path = `/admin/payouts/${requested.body.id}/approve`;
    const own = await requester.call('POST', path, {});
    expect([own.status, own.body.code]).toEqual([422, 'APPROVER_MUST_DIFFER']);
    expect((await approver.call('POST', path, {})).status).toBe(200);
    await waitForPayout(merchant, requested.body.id, 'completed');
    const listed = await v1(merchant, 'GET /payouts');
    expect(listed.body.data.map((one: Json) => one.id)).toEqual([requested.body.id]);
  });

  test('has one outcome when approval and cancellation race', async () => {
    const merchant = await aPayingMerchant(FUNDS_CENTS, queued);
    const created = await createPayout(merchant);
    const operators = await Promise.all([anOperator(), anOperator()]);
    const path = `/admin/payouts/${created.body.id}`;
    const answers = await Promise.all(
      operators.flatMap((operator) =>
        ['approve', 'cancel'].map((step) => operator.call('POST', `${path}/${step}`, {})),
      ),
    );
    for (const answer of answers) expect([200, 409]).toContain(answer.status);
    const outcomes = answers.filter((one) => one.status === 200).map((one) => one.body.status);
    expect(new Set(outcomes).size).toBe(1);
    const isApproved = outcomes[0] !== 'canceled';
    await waitForPayout(merchant, created.body.id, isApproved ? 'completed' : 'canceled');
    await eventually(async () => {
      expect(await availableOf(merchant)).toBe(isApproved ? FUNDS_CENTS - COST_CENTS : FUNDS_CENTS);
    });
  });
});

/** Lets what is pending be due now. */
async function endDelay({ accountId }: Merchant): Promise<void> {
  await using db = createPool({ url: stack().postgres_url, applicationName: 'payouts', max: 1 });
  await db.query(
    sql`update ledger.releases set release_at = now() where account_id = ${accountId}`,
  );
}

describe('pending money', () => {
  test('cannot be paid out before its delay is over, and can right after', async () => {
    const merchant = await aPayingMerchant(0, { release_delay_seconds: 3_600 });
    await fund(merchant, FUNDS_CENTS);
    expect(await balanceOf(merchant)).toMatchObject({ available: 0, pending: FUNDS_CENTS });
    const key = randomUUID();
    const early = await createPayout(merchant, {}, key);
    expect([early.status, early.body.code]).toEqual([400, 'INSUFFICIENT_BALANCE']);
    await endDelay(merchant);
    await eventually(async () => {
      expect(await balanceOf(merchant)).toMatchObject({ available: FUNDS_CENTS, pending: 0 });
    }, 30_000);
    const created = await createPayout(merchant, {}, key);
    expect(created.status).toBe(201);
    await waitForPayout(merchant, created.body.id, 'completed');
  });
});

test('money that leaves after a payout has failed goes to suspense and is shown, the payout stays as it is', async () => {
  const merchant = await aPayingMerchant(FUNDS_CENTS);
  await simulator.addFaults(merchant, [{ operation: 'sendPayout', fault: 'refusal', count: 1 }]);
  const created = await createPayout(merchant);
  const failed = await waitForPayout(merchant, created.body.id, 'failed');
  // Somebody else orders it under our id, with our credentials.
  const idEnvio = created.body.id.replaceAll('-', '');
  const ordered = await simulator.request('PUT', `/v3/gn/pix/${idEnvio}`, {
    valor: '10.00',
    pagador: { chave: secretsOfHome().acquirerPixKey },
    favorecido: { chave: merchant.recipientKey },
  });
  expect(ordered.status).toBe(201);
  leaveBreak(created.body.id);
  const operator = await anOperator();
  await eventually(async () => {
    const seen = await operator.call('GET', `/admin/payouts/${created.body.id}`);
    expect(seen.body.contradiction).not.toBeNull();
    const breaks = await findBreaks();
    expect(breaks.filter((one) => one.endsWith(created.body.id))).toHaveLength(1);
  }, 60_000);
  expect(await readPayout(merchant, created.body.id)).toEqual(failed);
  expect(await availableOf(merchant)).toBe(FUNDS_CENTS);
});
