import { PayoutStatusCheck } from '@pixmesh/contracts/internal/operator-payouts';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type PayoutsUnderTest, startPayoutsUnderTest } from '#test/payouts-under-test.ts';

let payouts: PayoutsUnderTest;

beforeAll(async () => {
  payouts = await startPayoutsUnderTest();
});
afterAll(() => payouts[Symbol.asyncDispose]());

const { settings } = aCaller();

/** A payout that waits for its approval. */
async function aPayout(): Promise<string> {
  const accountId = newId();
  await payouts.ledger.fund(accountId, 5_000);
  const created = await payouts.request(null, `POST /internal/accounts/${accountId}/payouts`, {
    operator_id: newId(),
    creation_id: newId(),
    settings,
    body: { amount: 1_000, pix_key_type: 'email', pix_key: 'ana@example.com' },
  });
  return created.body.id;
}

async function act(id: string, verb: string) {
  const body = { operator_id: newId(), settings };
  return await payouts.request(null, `POST /internal/payouts/${id}/${verb}`, body);
}

test('a payout is checked while an operator waits, and the acquirer that is away is named', async () => {
  const id = await aPayout();
  await act(id, 'approve');
  const answer = await act(id, 'check');
  expect(answer.status).toBe(200);
  const away = { reachable: false, answer: 'none', error: expect.any(String) as string };
  expect(PayoutStatusCheck.parse(answer.body)).toMatchObject({
    id,
    object: 'status_check',
    acquirer: away,
    resource: { id, status: 'processing', status_check: { acquirer: away } },
  });
});

test('an ended payout is checked too: it may have come back', async () => {
  const id = await aPayout();
  await payouts.db.query(sql`update payouts set status = 'completed' where id = ${id}`);
  expect((await act(id, 'check')).body).toMatchObject({ acquirer: { answer: 'none' } });
});

test('checks that operators ask for make later ones no rarer', async () => {
  const id = await aPayout();
  await payouts.db.query(sql`update payouts set status = 'completed', checks = 2 where id = ${id}`);
  await act(id, 'check');
  await act(id, 'check');
  expect(await payouts.db.query(sql`select checks from payouts where id = ${id}`)).toEqual([
    { checks: 2 },
  ]);
});

test('of one that is canceled there is nothing to check', async () => {
  const id = await aPayout();
  await payouts.db.query(sql`update payouts set status = 'canceled' where id = ${id}`);
  const refusal = { status: 409, body: { code: 'CONFLICT', details: ['status'] } };
  expect(await act(id, 'check')).toMatchObject(refusal);
});

test.each([newId(), 'nonsense'])('of an unknown payout neither: %s', async (id) => {
  const answer = await act(id, 'check');
  expect([answer.status, answer.body.code]).toEqual([404, 'PAYOUT_NOT_FOUND']);
});
