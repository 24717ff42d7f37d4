import { ErrorBody } from '@pixmesh/contracts/http/error-body';
import { Payout } from '@pixmesh/contracts/http/payout';
import { OperatorPayout } from '@pixmesh/contracts/internal/operator-payouts';
import { PayoutStop } from '@pixmesh/contracts/internal/payout-stops';
import { OwnedTimeline } from '@pixmesh/contracts/internal/timeline';
import { newId } from '@pixmesh/kernel/ids';
import { eventually } from '@pixmesh/testkit/eventually';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { aCreator, type Json } from '#test/payouts-environment.ts';
import { type PayoutsUnderTest, startPayoutsUnderTest } from '#test/payouts-under-test.ts';

let payouts: PayoutsUnderTest;
beforeAll(async () => {
  payouts = await startPayoutsUnderTest();
});
afterEach(async () => {
  await resume();
});
afterAll(async () => {
  await payouts[Symbol.asyncDispose]();
});

const BODY = { amount: 1_000, pix_key_type: 'email', pix_key: 'ana@example.com' };
const operator = newId();
const { settings } = aCaller();

const post = (path: string, body: object) => payouts.request(null, `POST ${path}`, body);
const stop = (accountId?: string, reason = 'books') =>
  post('/internal/payout-stops', { account_id: accountId, reason, operator_id: operator });
const resume = (accountId?: string) =>
  post('/internal/payout-stops/resume', { account_id: accountId, operator_id: operator });
const list = (query: string) => payouts.request(null, `GET /internal/payout-stops?${query}`);
const isRepeat = ({ headers }: { headers: { has(name: string): boolean } }) =>
  headers.has('idempotent-replayed');
const create = (caller: ReturnType<typeof aCreator>) =>
  payouts.request(caller, 'POST /v1/payouts', BODY);

async function operatorView(id: string): Promise<OperatorPayout> {
  return OperatorPayout.parse((await payouts.request(null, `GET /internal/payouts/${id}`)).body);
}

describe('while payouts of an account are stopped', () => {
  test('a new automatic one is accepted and waits for approval; those of others go on', async () => {
    const [stopped, other] = [
      await payouts.fundedCreator(5_000),
      await payouts.fundedCreator(5_000),
    ];
    expect((await stop(stopped.account_id)).status).toBe(200);
    const answer = await create(stopped);
    expect([answer.status, answer.body.status]).toEqual([201, 'pending']);
    expect(Payout.strict().parse(answer.body)).toEqual(answer.body);
    expect((await create(other)).body.status).toBe('processing');
    expect(await payouts.ledger.available(stopped.account_id)).toBe(4_000);
    const [event] = await payouts.eventsOf(stopped.creation_id);
    expect(event).toMatchObject({
      type: 'payment.pix.created',
      message: { data: { status: 'pending' } },
    });
  });

  test('operators see the reason in the payout and in its timeline, merchants do not', async () => {
    const caller = await payouts.fundedCreator(5_000);
    await stop(caller.account_id, 'a credit nobody knows');
    const { id } = (await create(caller)).body;
    const reason = 'payouts stopped: a credit nobody knows';
    expect((await operatorView(id)).pending_reason).toBe(reason);
    const timeline = await payouts.request(null, `GET /internal/payouts/${id}/timeline`);
    const { entries } = OwnedTimeline.parse(timeline.body);
    expect(entries.find(({ what }) => what === 'intent → pending')?.details).toMatchObject({
      reason,
    });
    const shown = await payouts.request(caller, `GET /v1/payouts/${id}`);
    expect(JSON.stringify(shown.body)).not.toContain('nobody knows');
  });

  test('what an approval moves on is processing and stays unsent', async () => {
    const caller = await payouts.fundedCreator(5_000);
    await stop(caller.account_id);
    const { id } = (await create(caller)).body;
    const approval = { operator_id: operator, settings };
    const approved = await post(`/internal/payouts/${id}/approve`, approval);
    expect(approved.body).toMatchObject({ status: 'processing', approved_by: operator });
    expect(approved.body.send).toMatchObject({
      send_at: expect.any(String) as string,
      unanswered_puts: 0,
    });
  });

  test('one that would have waited anyway waits without a reason', async () => {
    const manual = { settings: { auto_payout_enabled: false } };
    const caller = await payouts.fundedCreator(5_000, manual);
    await stop(caller.account_id);
    const { id } = (await create(caller)).body;
    expect(await operatorView(id)).toMatchObject({ status: 'pending', pending_reason: null });
  });

  test('one whose hold is still on its way when the stop is answered waits too', async () => {
    const caller = await payouts.fundedCreator(5_000);
    const way = Promise.withResolvers<void>();
    payouts.network.trouble('PUT', /\/holds\//, way.promise);
    const answer = create(caller);
    await eventually(() => expect(payouts.network.planned()).toBe(0));
    await stop(caller.account_id);
    way.resolve();
    expect((await answer).body.status).toBe('pending');
  });
});

test('a stop of all accounts holds for each, and ends apart from the stop of one', async () => {
  const [one, other] = [await payouts.fundedCreator(5_000), await payouts.fundedCreator(5_000)];
  await stop();
  await stop(one.account_id);
  expect((await create(other)).body.status).toBe('pending');
  await resume();
  expect((await create({ ...other, creation_id: newId() })).body.status).toBe('processing');
  expect((await create(one)).body.status).toBe('pending');
});

describe('a stop', () => {
  test('that is repeated, by anybody and for any reason, is the one in force', async () => {
    const accountId = newId();
    const first = await stop(accountId);
    expect(PayoutStop.parse(first.body)).toEqual(first.body);
    expect(first.body).toMatchObject({ reason: 'books', set_by: operator, ended_at: null });
    const repeated = await stop(accountId, 'another');
    expect([repeated.status, repeated.body, isRepeat(repeated)]).toEqual([200, first.body, true]);
  });

  test.each([
    ['an account', newId()],
    ['all accounts', undefined],
  ])('of %s that is asked for by fifty at once begins once', async (_name, accountId) => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => stop(accountId)));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.filter((answer) => !isRepeat(answer))).toHaveLength(1);
  });

  test('ends once, by an operator, and the next one is another', async () => {
    const accountId = newId();
    const { id } = (await stop(accountId)).body;
    const ended = await resume(accountId);
    expect(ended.body).toMatchObject({ id, ended_by: operator, ended_at: expect.any(String) });
    const repeated = await resume(accountId);
    expect([repeated.body, isRepeat(repeated)]).toEqual([ended.body, true]);
    expect((await stop(accountId)).body.id).not.toBe(id);
  });

  test('that never was cannot be ended', async () => {
    const answer = await resume(newId());
    expect([answer.status, ErrorBody.parse(answer.body).code]).toEqual([404, 'NOT_FOUND']);
  });

  test.each<[string, object, string]>([
    ['no reason', { operator_id: operator }, 'reason'],
    ['an empty reason', { operator_id: operator, reason: '' }, 'reason'],
    [
      'an account that is none',
      { operator_id: operator, reason: 'x', account_id: 7 },
      'account_id',
    ],
  ])('with %s is refused', async (_name, body, field) => {
    const answer = await post('/internal/payout-stops', body);
    expect([answer.status, answer.body.code, answer.body.details]).toEqual([
      400,
      'VALIDATION_ERROR',
      [field],
    ]);
  });
});

test('stops are listed newest first, with those that have ended, in pages', async () => {
  const accountId = newId();
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    ids.unshift((await stop(accountId)).body.id);
    if (count < 2) await resume(accountId);
  }
  const idsOf = async (query: string) => {
    const { body } = await list(`account_id=${accountId}&${query}`);
    return [body.data.map(({ id }: Json) => id), body.has_more];
  };
  expect(await idsOf('')).toEqual([ids, false]);
  expect(await idsOf('limit=2')).toEqual([ids.slice(0, 2), true]);
  expect(await idsOf(`starting_after=${ids[1]}`)).toEqual([ids.slice(2), false]);
  expect(await idsOf('status=in_force')).toEqual([ids.slice(0, 1), false]);
  expect(await idsOf('status=ended')).toEqual([ids.slice(1), false]);
  const unknown = await list(`starting_after=${newId()}&account_id=${newId()}`);
  expect([unknown.status, unknown.body.details]).toEqual([400, ['starting_after']]);
});

test('no tenant may stop, resume or see stops', async () => {
  const caller = aCreator();
  const body = { reason: 'x', operator_id: operator };
  const statuses = [
    await payouts.request(caller, 'POST /internal/payout-stops', body),
    await payouts.request(caller, 'POST /internal/payout-stops/resume', body),
    await payouts.request(caller, 'GET /internal/payout-stops'),
  ].map(({ status }) => status);
  expect(statuses).toEqual([401, 401, 401]);
});

test('of fifty creations around a stop, each that began after its answer waits, and none is refused', async () => {
  const accountId = newId();
  await payouts.ledger.fund(accountId, 60_000);
  let isStopped = false;
  const one = async () => {
    const began = isStopped;
    const answer = await create({ ...aCreator(), account_id: accountId as never });
    return { began, status: answer.status, became: answer.body.status as string };
  };
  const before = Array.from({ length: 20 }, one);
  const stopIt = async () => {
    await stop(accountId);
    isStopped = true;
  };
  const stopped = stopIt();
  const beside = Array.from({ length: 10 }, one);
  await stopped;
  const after = Array.from({ length: 20 }, one);
  const all = await Promise.all([...before, ...beside, ...after]);
  expect(all.map(({ status }) => status)).toEqual(all.map(() => 201));
  const waiting = all.filter(({ began }) => began);
  expect(waiting).toHaveLength(20);
  expect(new Set(waiting.map(({ became }) => became))).toEqual(new Set(['pending']));
});
