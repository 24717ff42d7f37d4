import { newId } from '@pixmesh/kernel/ids';
import { openSecret } from '@pixmesh/kernel/sealed-secret';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { followTopic } from '@pixmesh/testkit/read-topic';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { aCreator } from '#test/payouts-environment.ts';
import { type PayoutsUnderTest, startPayoutsUnderTest } from '#test/payouts-under-test.ts';

let payouts: PayoutsUnderTest;

beforeAll(async () => {
  payouts = await startPayoutsUnderTest();
});
afterAll(async () => {
  await payouts[Symbol.asyncDispose]();
});

const ROUTE = 'POST /v1/payouts';
const body = { amount: 1_500, pix_key_type: 'cpf', pix_key: '529.982.247-25' };

async function storedRows(id: string) {
  return await payouts.db.query<{ status: string; hold_id: string; pix_key_canonical: string }>(
    sql`select status, hold_id, pix_key_canonical from payouts where id = ${id}`,
  );
}

test('an automatic payout is held, answered as processing, and announced by created in one commit', async () => {
  await using topic = followTopic(payouts.topicPrefix, 'payouts.events.v1');
  const caller = await payouts.fundedCreator(2_000, { settings: { payout_fee: 50 } });
  const created = await payouts.request(caller, ROUTE, {
    ...body,
    recipient_document: '529.982.247-25',
    description: 'Repasse',
    reference: 'r-1',
  });
  expect(created.status).toBe(201);
  expect(created.headers.has('idempotent-replayed')).toBe(false);
  expect(created.body).toEqual({
    id: caller.creation_id,
    object: 'payout',
    status: 'processing',
    method: 'pix',
    amount: 1_500,
    fee: 50,
    currency: 'BRL',
    description: 'Repasse',
    reference: 'r-1',
    recipient: {
      name: null,
      document: '52998224725',
      pix_key_type: 'cpf',
      pix_key: '529.982.247-25',
    },
    end_to_end_id: null,
    failure_reason: null,
    webhook_url: null,
    processed_at: null,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  expect(await payouts.ledger.available(caller.account_id)).toBe(450);
  const [row] = await storedRows(caller.creation_id);
  expect(row?.pix_key_canonical).toBe('52998224725');
  expect(await payouts.ledger.holdsOf(caller.creation_id)).toMatchObject([
    { hold_id: row?.hold_id, state: 'open', amount: 1_500, fee: 50 },
  ]);
  const events = await payouts.eventsOf(caller.creation_id);
  expect(events).toMatchObject([
    {
      type: 'payment.pix.created',
      sequence: 1,
      message: {
        source: 'api',
        application_id: caller.application_id,
        destination: null,
        data: { ...created.body, object: 'payment' },
      },
    },
  ]);
  await eventually(() => {
    const mine = topic.messages.filter((message) => message.key === caller.creation_id);
    expect(mine.map((message) => message.headers['type'])).toEqual(['payment.pix.created']);
  });
});

test('without automatic payouts it waits in the queue, held all the same, and nothing is to be sent', async () => {
  const caller = await payouts.fundedCreator(1_500, { settings: { auto_payout_enabled: false } });
  const created = await payouts.request(caller, ROUTE, body);
  expect([created.status, created.body.status]).toEqual([201, 'pending']);
  expect(await payouts.ledger.available(caller.account_id)).toBe(0);
  expect((await payouts.eventsOf(caller.creation_id))[0]?.message.data.status).toBe('pending');
  const rows = await payouts.db.query(
    sql`select send_at, check_at from payouts where id = ${caller.creation_id}`,
  );
  expect(rows).toEqual([{ send_at: null, check_at: null }]);
});

test('a repeated key answers the current payout and takes no second hold', async () => {
  const caller = await payouts.fundedCreator(10_000);
  const created = await payouts.request(caller, ROUTE, body);
  const replayed = await payouts.request(caller, ROUTE, { ...body, pix_key: '52998224725' });
  expect(replayed.status).toBe(201);
  expect(replayed.body).toEqual(created.body);
  expect(replayed.headers.get('idempotent-replayed')).toBe('true');
  expect(replayed.headers.has('idempotency-mismatch')).toBe(false);
  expect(await payouts.ledger.available(caller.account_id)).toBe(8_500);
  expect(await payouts.eventsOf(caller.creation_id)).toHaveLength(1);
});

test('another or a broken body under the key answers the first payout, as a mismatch', async () => {
  const caller = await payouts.fundedCreator(10_000);
  const created = await payouts.request(caller, ROUTE, body);
  const others = [
    { ...body, amount: 1_501 },
    '{"amount":',
    { amount: 'x' },
    { ...body, amount: 1 },
  ];
  for (const other of others) {
    const answer = await payouts.request(caller, ROUTE, other);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
    expect(answer.headers.get('idempotency-mismatch')).toBe('true');
    expect(answer.body).toEqual(created.body);
  }
  expect(await payouts.ledger.available(caller.account_id)).toBe(8_500);
});

test('a replay is answered even if payouts were disabled since', async () => {
  const caller = await payouts.fundedCreator(10_000);
  const created = await payouts.request(caller, ROUTE, body);
  const disabled = { ...caller, settings: { ...caller.settings, payouts_enabled: false } };
  const replayed = await payouts.request(disabled, ROUTE, body);
  expect([replayed.status, replayed.body]).toEqual([201, created.body]);
});

test('fee and mode are copied for life', async () => {
  const caller = await payouts.fundedCreator(10_000, {
    settings: { payout_fee: 7, auto_payout_enabled: false },
  });
  await payouts.request(caller, ROUTE, body);
  const later = {
    ...caller,
    settings: { ...caller.settings, payout_fee: 9, auto_payout_enabled: true },
  };
  const replayed = await payouts.request(later, ROUTE, body);
  expect(replayed.body).toMatchObject({ fee: 7, status: 'pending' });
  expect(replayed.headers.has('idempotency-mismatch')).toBe(false);
});

test('the webhook secret is stored sealed, bound to account and payout', async () => {
  const caller = await payouts.fundedCreator(10_000);
  const url = 'http://shop.receiver.example.com/hook';
  const secret = 'whsec_canary_of_payouts';
  const created = await payouts.request(caller, ROUTE, {
    ...body,
    webhook_url: url,
    webhook_secret: secret,
  });
  expect(created.body.webhook_url).toBe(url);
  const [event] = await payouts.eventsOf(caller.creation_id);
  expect(event?.message.destination.url).toBe(url);
  expect(JSON.stringify([event, created.body])).not.toContain(secret);
  const sealed = event?.message.destination.sealed_secret;
  const context = `${caller.account_id}/${caller.creation_id}`;
  expect(openSecret(payouts.sealing.privateKeys, sealed, context)).toBe(secret);
});

test('two applications of one account may use one key; two payouts come of it', async () => {
  const first = await payouts.fundedCreator(3_000);
  const second = { ...first, application_id: newId<never>(), creation_id: newId() };
  expect((await payouts.request(first, ROUTE, body)).status).toBe(201);
  expect((await payouts.request(second, ROUTE, body)).status).toBe(201);
  expect(await payouts.ledger.available(first.account_id)).toBe(0);
});

describe('a refused request leaves no row, no hold, no event, and its key free', () => {
  const url = 'http://127.0.0.1/hook';
  test.each([
    ['no body', '', 400, 'VALIDATION_ERROR', ['body']],
    ['an array', '[]', 400, 'VALIDATION_ERROR', ['body']],
    ['nothing in it', {}, 400, 'VALIDATION_ERROR', ['amount', 'pix_key_type', 'pix_key']],
    [
      'a key of another type',
      { ...body, pix_key_type: 'cnpj' },
      400,
      'VALIDATION_ERROR',
      ['pix_key'],
    ],
    [
      'a key and an amount that fail together',
      { ...body, amount: '1', pix_key: 'x', reference: 1 },
      400,
      'VALIDATION_ERROR',
      ['amount', 'pix_key', 'reference'],
    ],
    [
      'wrong check digits of the recipient',
      { ...body, recipient_document: '52998224724' },
      400,
      'VALIDATION_ERROR',
      ['recipient_document'],
    ],
    ['a boleto', { ...body, method: 'boleto' }, 400, 'METHOD_NOT_SUPPORTED', []],
    ['499 cents', { ...body, amount: 499 }, 400, 'AMOUNT_BELOW_MINIMUM', []],
    ['a private URL', { ...body, webhook_url: url }, 422, 'INVALID_WEBHOOK_URL', ['webhook_url']],
  ])('%s', async (_name, wrong, status, code, details) => {
    const caller = await payouts.fundedCreator(1_500);
    const refused = await payouts.request(caller, ROUTE, wrong);
    expect(refused.status).toBe(status);
    expect(refused.body).toEqual({ code, message: expect.any(String), details });
    expect(await storedRows(caller.creation_id)).toEqual([]);
    expect(await payouts.ledger.holdsOf(caller.creation_id)).toEqual([]);
    expect(await payouts.eventsOf(caller.creation_id)).toEqual([]);
    const corrected = await payouts.request(caller, ROUTE, body);
    expect(corrected.status).toBe(201);
    expect(corrected.headers.has('idempotent-replayed')).toBe(false);
  });

  test.each([
    ['the switch is off', { payouts_enabled: false }],
    ['the account is inactive', { status: 'inactive' as const }],
    ['onboarding is not done', { onboarding_status: 'in_review' as const }],
  ])('payouts are disabled: %s; the balance is not asked for', async (_name, settings) => {
    const caller = aCreator({ settings });
    const refused = await payouts.request(caller, ROUTE, body);
    expect([refused.status, refused.body.code]).toEqual([422, 'PAYOUTS_DISABLED']);
    expect(await storedRows(caller.creation_id)).toEqual([]);
    expect(await payouts.ledger.holdsOf(caller.creation_id)).toEqual([]);
  });
});

describe('a balance below amount plus fee', () => {
  test('refuses, drops the intent, and the same key succeeds under a new hold once there is money', async () => {
    const caller = await payouts.fundedCreator(1_549, { settings: { payout_fee: 50 } });
    const refused = await payouts.request(caller, ROUTE, body);
    expect([refused.status, refused.body.code]).toEqual([400, 'INSUFFICIENT_BALANCE']);
    expect(await storedRows(caller.creation_id)).toEqual([]);
    expect(await payouts.eventsOf(caller.creation_id)).toEqual([]);
    expect(await payouts.ledger.available(caller.account_id)).toBe(1_549);
    await payouts.ledger.fund(caller.account_id, 1);
    const accepted = await payouts.request(caller, ROUTE, body);
    expect(accepted.status).toBe(201);
    expect(accepted.headers.has('idempotent-replayed')).toBe(false);
    expect(await payouts.ledger.available(caller.account_id)).toBe(0);
    const states = (await payouts.ledger.holdsOf(caller.creation_id)).map(({ state }) => state);
    expect(states.sort()).toEqual(['open', 'refused']);
  });

  test('refuses every one of parallel calls with one key', async () => {
    const caller = await payouts.fundedCreator(1_499);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => payouts.request(caller, ROUTE, body)),
    );
    const codes = new Set(answers.map((answer) => `${answer.status} ${answer.body.code}`));
    expect([...codes]).toEqual(['400 INSUFFICIENT_BALANCE']);
    expect(await storedRows(caller.creation_id)).toEqual([]);
    await payouts.ledger.fund(caller.account_id, 1);
    expect((await payouts.request(caller, ROUTE, body)).status).toBe(201);
  });
});

test('fifty parallel calls of one key make one payout, one hold, one event and one first answer', async () => {
  const caller = await payouts.fundedCreator(100_000);
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => payouts.request(caller, ROUTE, body)),
  );
  expect(new Set(answers.map((answer) => `${answer.status} ${answer.body.id}`))).toEqual(
    new Set([`201 ${caller.creation_id}`]),
  );
  expect(answers.filter((answer) => !answer.headers.has('idempotent-replayed'))).toHaveLength(1);
  expect(await payouts.ledger.available(caller.account_id)).toBe(98_500);
  expect(await payouts.ledger.holdsOf(caller.creation_id)).toHaveLength(1);
  expect(await payouts.eventsOf(caller.creation_id)).toHaveLength(1);
});

test('a call without a creation id or without a tenant is refused', async () => {
  expect((await payouts.request(null, ROUTE, body)).status).toBe(401);
  const refused = await payouts.request({ ...aCreator(), creation_id: null }, ROUTE, body);
  expect(refused.status).toBe(401);
});
