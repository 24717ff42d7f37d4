import { OperatorPayout } from '@pixmesh/contracts/internal/operator-payouts';
import { type AccountId, deriveCommandId, newId } from '@pixmesh/kernel/ids';
import { scaled } from '@pixmesh/testkit/long-runs';
import { callOwner } from '@pixmesh/testkit/mesh-calls';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type Json } from '#test/payouts-environment.ts';
import { type PayoutsAtAcquirer, startPayoutsAtAcquirer } from '#test/payouts-under-test.ts';
import { storePayout } from '#test/store-payout.ts';

let payouts: PayoutsAtAcquirer;

beforeAll(async () => {
  payouts = await startPayoutsAtAcquirer();
});
afterAll(async () => {
  await payouts[Symbol.asyncDispose]();
});

const body = { amount: 1_000, pix_key_type: 'email', pix_key: 'Ana@Example.com' };
const { settings } = aCaller();
const requester = newId();
const approver = newId();

/** An operator's request for an account with this much money. */
async function anOrder(cents = 5_000, changes: Record<string, unknown> = {}) {
  const accountId = newId<AccountId>();
  await payouts.ledger.fund(accountId, cents);
  const asked = { operator_id: requester, creation_id: newId(), settings, body, ...changes };
  return {
    accountId,
    id: asked.creation_id,
    send: (other: Record<string, unknown> = {}) =>
      payouts.request(null, `POST /internal/accounts/${accountId}/payouts`, { ...asked, ...other }),
  };
}

const approve = (id: string, changes: Record<string, unknown> = {}) =>
  payouts.request(null, `POST /internal/payouts/${id}/approve`, {
    operator_id: approver,
    settings,
    ...changes,
  });
const cancel = (id: string) =>
  payouts.request(null, `POST /internal/payouts/${id}/cancel`, { operator_id: requester });
const typesOf = async (key: string) => (await payouts.eventsOf(key)).map(({ type }) => type);

describe('with the certificate of charges', () => {
  test('nobody requests or approves a payout in the name of operators', async () => {
    const order = await anOrder();
    const asked = { operator_id: requester, creation_id: order.id, settings, body };
    const request = `POST /internal/accounts/${order.accountId}/payouts`;
    expect(await codeOf('payouts', { route: request, body: asked })).toBe('CALLER_NOT_ALLOWED');
    expect(await payouts.row(order.id)).toBeNull();
    await order.send();
    const approval = { operator_id: approver, settings };
    const route = `POST /internal/payouts/${order.id}/approve`;
    expect(await codeOf('payouts', { route, body: approval })).toBe('CALLER_NOT_ALLOWED');
    expect((await payouts.row(order.id))?.status).toBe('pending');
  });

  test('what the gateway says of a tenant holds none of its money', async () => {
    const { accountId } = await anOrder(5_000);
    const hold = {
      account_id: accountId,
      resource_id: newId(),
      kind: 'payout',
      amount: 5_000,
      fee: 0,
    };
    const call = { route: `PUT /internal/holds/${newId()}`, body: hold };
    const caller = aCaller({ account_id: accountId });
    expect(await codeOf('ledger', { ...call, caller })).toBe('CALLER_NOT_ALLOWED');
    expect(await payouts.ledger.available(accountId)).toBe(5_000);
  });

  async function codeOf(
    owner: 'payouts' | 'ledger',
    call: { route: string; body: object; caller?: ReturnType<typeof aCaller> },
  ): Promise<unknown> {
    const url = owner === 'payouts' ? payouts.url : payouts.ledger.url;
    const answer = await callOwner({ owner, url }, { caller: null, ...call, as: 'charges' });
    expect(answer.status).toBe(403);
    return ((await answer.json()) as { code: string }).code;
  }
});

describe('a payout requested by an operator', () => {
  test('is held and waits for a second one, even where payouts of the API are automatic', async () => {
    const order = await anOrder();
    const created = await order.send();
    expect(created.status).toBe(201);
    expect(OperatorPayout.parse(created.body)).toEqual(created.body);
    expect(created.body).toMatchObject({
      id: order.id,
      status: 'pending',
      source: 'dashboard',
      account_id: order.accountId,
      application_id: null,
      requested_by: requester,
      approved_by: null,
      recipient: { pix_key: 'Ana@Example.com' },
      send: { send_at: null },
    });
    expect(await payouts.ledger.available(order.accountId)).toBe(4_000);
    const [event] = await payouts.eventsOf(order.id);
    expect(event).toMatchObject({
      type: 'payment.pix.created',
      message: { source: 'dashboard', application_id: null },
    });
  });

  test('is read by its account through the API', async () => {
    const order = await anOrder();
    await order.send();
    const caller = { ...aCaller(), account_id: order.accountId as never };
    expect((await payouts.request(caller, `GET /v1/payouts/${order.id}`)).status).toBe(200);
    const list = await payouts.request(caller, 'GET /v1/payouts');
    expect(list.body.data.map(({ id }: Json) => id)).toEqual([order.id]);
  });

  test('is replayed under its id, a mismatch where the body differs or could not be read', async () => {
    const order = await anOrder();
    const created = await order.send();
    const replayed = await order.send();
    expect(replayed.body).toEqual(created.body);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    expect(replayed.headers.has('idempotency-mismatch')).toBe(false);
    for (const other of [{ ...body, amount: 2_000 }, null]) {
      const answer = await order.send({ body: other });
      expect(answer.status).toBe(201);
      expect(answer.headers.get('idempotency-mismatch')).toBe('true');
    }
    expect(await payouts.ledger.available(order.accountId)).toBe(4_000);
  });

  test.each<[string, Record<string, unknown>, number, string, string[]]>([
    ['no body', { body: null }, 400, 'VALIDATION_ERROR', ['body']],
    ['an empty body', { body: {} }, 400, 'VALIDATION_ERROR', ['amount', 'pix_key_type', 'pix_key']],
    ['a small amount', { body: { ...body, amount: 1 } }, 400, 'AMOUNT_BELOW_MINIMUM', []],
    ['too little money', { body: { ...body, amount: 5_001 } }, 400, 'INSUFFICIENT_BALANCE', []],
    [
      'disabled payouts',
      { settings: { ...settings, payouts_enabled: false } },
      422,
      'PAYOUTS_DISABLED',
      [],
    ],
    ['no settings', { settings: undefined }, 400, 'VALIDATION_ERROR', ['settings']],
  ])('is refused with %s, and its id stays free', async (_name, wrong, status, code, details) => {
    const order = await anOrder();
    const refused = await order.send(wrong);
    expect([refused.status, refused.body.code, refused.body.details]).toEqual([
      status,
      code,
      details,
    ]);
    expect(await payouts.row(order.id)).toBeNull();
    const corrected = await order.send();
    expect([corrected.status, corrected.headers.has('idempotent-replayed')]).toEqual([201, false]);
  });

  test('may carry as many levels as a body of the API', async () => {
    const deep = JSON.parse('{"a":'.repeat(15) + '1' + '}'.repeat(15)) as object;
    const order = await anOrder();
    expect((await order.send({ body: { ...body, deep } })).status).toBe(201);
  });

  test('needs a well-formed account', async () => {
    const asked = { operator_id: requester, creation_id: newId(), settings, body };
    const answer = await payouts.request(null, 'POST /internal/accounts/x/payouts', asked);
    expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('approval', () => {
  test('by a second operator hands it to the senders and announces nothing yet', async () => {
    const order = await anOrder();
    await order.send();
    const approved = await approve(order.id);
    expect(approved.status).toBe(200);
    expect(approved.body).toMatchObject({
      status: 'processing',
      requested_by: requester,
      approved_by: approver,
      processed_at: null,
      send: { send_at: expect.any(String) },
    });
    expect(await typesOf(order.id)).toEqual(['payment.pix.created']);
    expect(await payouts.ledger.available(order.accountId)).toBe(4_000);
  });

  test('by its own requester is refused, and it goes on waiting', async () => {
    const order = await anOrder();
    await order.send();
    const refused = await approve(order.id, { operator_id: requester });
    expect([refused.status, refused.body.code]).toEqual([422, 'APPROVER_MUST_DIFFER']);
    expect((await payouts.row(order.id))?.status).toBe('pending');
  });

  test('checks the switches of the account again', async () => {
    const order = await anOrder();
    await order.send();
    const off = { settings: { ...settings, onboarding_status: 'rejected', status: 'inactive' } };
    const refused = await approve(order.id, off);
    expect([refused.status, refused.body.code]).toEqual([422, 'PAYOUTS_DISABLED']);
    expect((await approve(order.id)).status).toBe(200);
  });

  test('of a payout of the API may come from any operator', async () => {
    const caller = await payouts.fundedCreator(5_000, { settings: { auto_payout_enabled: false } });
    await payouts.request(caller, 'POST /v1/payouts', body);
    const approved = await approve(caller.creation_id);
    expect(approved.body).toMatchObject({ requested_by: null, approved_by: approver });
  });

  test('repeated is answered with the payout as it is', async () => {
    const order = await anOrder();
    await order.send();
    const first = await approve(order.id);
    const again = await approve(order.id, { operator_id: newId() });
    expect([again.status, again.body.approved_by]).toEqual([200, approver]);
    expect(again.body).toEqual(first.body);
    const marks = [first, again].map(({ headers }) => headers.get('idempotent-replayed'));
    expect(marks).toEqual([null, 'true']);
  });

  test('of what is canceled or was automatic is refused', async () => {
    const order = await anOrder();
    await order.send();
    await cancel(order.id);
    const automatic = await payouts.fundedCreator(5_000);
    await payouts.request(automatic, 'POST /v1/payouts', body);
    for (const id of [order.id, automatic.creation_id]) {
      const refused = await approve(id);
      expect([refused.status, refused.body.code]).toEqual([409, 'PAYOUT_NOT_PENDING']);
    }
  });
});

describe('cancellation', () => {
  test('announces it and orders the money back, in one commit and once', async () => {
    const order = await anOrder();
    await order.send();
    const canceled = await cancel(order.id);
    expect([canceled.status, canceled.body.status]).toEqual([200, 'canceled']);
    const again = await cancel(order.id);
    expect([again.status, again.body]).toEqual([200, canceled.body]);
    const events = await payouts.eventsOf(order.id);
    expect(events.map(({ type, sequence }) => [type, sequence])).toEqual([
      ['payment.pix.created', 1],
      ['payment.pix.canceled', 2],
    ]);
    expect(events[1]?.message.data).toMatchObject({ object: 'payment', status: 'canceled' });
    const { hold_id } = canceled.body;
    expect(await payouts.eventsOf(order.accountId)).toMatchObject([
      {
        type: 'hold.release',
        message: {
          data: {
            hold_id,
            resource_id: order.id,
            command_id: deriveCommandId('hold_release', hold_id),
          },
        },
      },
    ]);
  });

  test('of what is on its way is refused: the acquirer cannot recall it', async () => {
    const order = await anOrder();
    await order.send();
    await approve(order.id);
    const refused = await cancel(order.id);
    expect([refused.status, refused.body.code]).toEqual([409, 'PAYOUT_NOT_PENDING']);
    expect(await payouts.eventsOf(order.accountId)).toEqual([]);
  });
});

test('approvals, cancellations and switches at once come to one outcome, one event and one order', async () => {
  for (let race = 0; race < scaled(10, 2_500); race += 1) {
    const order = await anOrder();
    await order.send();
    const off = { settings: { ...settings, payouts_enabled: false } };
    const answers = await Promise.all([
      approve(order.id),
      cancel(order.id),
      approve(order.id, { operator_id: newId() }),
      cancel(order.id),
      approve(order.id, off),
    ]);
    const row = await payouts.row(order.id);
    const isCanceled = row?.status === 'canceled';
    expect(await typesOf(order.id)).toEqual([
      'payment.pix.created',
      ...(isCanceled ? ['payment.pix.canceled'] : []),
    ]);
    expect(await typesOf(order.accountId)).toEqual(isCanceled ? ['hold.release'] : []);
    expect(row?.approvedBy === null).toBe(isCanceled);
    const codes = answers.map((answer) => answer.status);
    const [first, second, third, fourth, switched] = codes;
    expect([first, third]).toEqual(isCanceled ? [409, 409] : [200, 200]);
    expect([second, fourth]).toEqual(isCanceled ? [200, 200] : [409, 409]);
    expect(switched === 422 || switched === (isCanceled ? 409 : 200)).toBe(true);
  }
});

describe('reads of operators', () => {
  test('see every account, newest first, and filter by what they look for', async () => {
    const reference = `ref-${newId()}`;
    const endToEndId = `E${newId()}`;
    const createdAt = new Date('2031-01-01T00:00:00.000Z');
    const one = await storePayout(payouts.db, { reference, status: 'failed', createdAt });
    const two = await storePayout(payouts.db, {
      reference,
      endToEndId,
      source: 'dashboard',
      createdAt: new Date('2031-01-01T00:00:01.000Z'),
    });
    const ids = async (query: string) => {
      const answer = await payouts.request(null, `GET /internal/payouts?${query}`);
      return answer.body.data.map(({ id }: Json) => id);
    };
    expect(await ids(`reference=${reference}`)).toEqual([two.id, one.id]);
    expect(await ids(`reference=${reference}&starting_after=${two.id}`)).toEqual([one.id]);
    expect(await ids(`end_to_end_id=${endToEndId}`)).toEqual([two.id]);
    expect(await ids(`account_id=${one.accountId.toUpperCase()}`)).toEqual([one.id]);
    expect(await ids(`reference=${reference}&status=failed`)).toEqual([one.id]);
    expect(await ids(`reference=${reference}&source=dashboard`)).toEqual([two.id]);
    expect(await ids('created_after=2031-01-01T00:00:00.000Z')).toEqual([two.id]);
    expect(await ids('limit=1')).toEqual([two.id]);
    const page = await payouts.request(null, 'GET /internal/payouts?limit=1');
    expect(page.body).toMatchObject({ object: 'list', has_more: true });
    expect(OperatorPayout.parse(page.body.data[0])).toEqual(page.body.data[0]);
  });

  test.each([
    ['account_id=x', 'account_id'],
    ['status=intent', 'status'],
    ['source=checkout', 'source'],
    ['reference=%00', 'reference'],
    ['end_to_end_id=%00', 'end_to_end_id'],
    ['created_before=soon', 'created_before'],
    ['limit=0', 'limit'],
    [`starting_after=${newId()}`, 'starting_after'],
  ])('?%s is a fault of its parameter', async (query, name) => {
    const answer = await payouts.request(null, `GET /internal/payouts?${query}`);
    expect([answer.status, answer.body.details]).toEqual([400, [name]]);
  });

  test('unknown and ill-formed ids get one and the same 404, whatever is asked of them', async () => {
    for (const id of [newId(), 'nonsense']) {
      const answers = [
        await payouts.request(null, `GET /internal/payouts/${id}`),
        await approve(id),
        await cancel(id),
        await payouts.request(null, `POST /internal/payouts/${id}/approve`, '{'),
      ];
      for (const answer of answers) {
        expect([answer.status, answer.body.code]).toEqual([404, 'PAYOUT_NOT_FOUND']);
      }
    }
  });

  test('are not for tenants', async () => {
    const order = await anOrder();
    await order.send();
    const tenant = aCaller();
    const calls = [
      'GET /internal/payouts',
      `GET /internal/payouts/${order.id}`,
      `POST /internal/payouts/${order.id}/approve`,
      `POST /internal/payouts/${order.id}/cancel`,
      `POST /internal/accounts/${order.accountId}/payouts`,
    ];
    for (const route of calls) {
      const asked = route.startsWith('POST') ? { operator_id: approver, settings } : undefined;
      const answer = await payouts.request(tenant, route, asked);
      expect([route, answer.status]).toEqual([route, 401]);
    }
    expect((await payouts.row(order.id))?.status).toBe('pending');
  });
});
