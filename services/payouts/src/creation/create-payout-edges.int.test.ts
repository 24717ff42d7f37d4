import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import { Payout } from '@pixmesh/contracts/http/payout';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { scaled } from '@pixmesh/testkit/long-runs';
import * as fc from 'fast-check';
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
const TAKE = ['PUT', /^\/internal\/holds\/[^/]+$/] as const;
const body = { amount: 1_000, pix_key_type: 'email', pix_key: 'ana@example.com' };

describe('parallel calls of one key with different bodies', () => {
  test('make one payout out of one of them; every other body is a mismatch', async () => {
    const caller = await payouts.fundedCreator(100_000);
    const amounts = Array.from({ length: 20 }, (_, index) => 1_000 + index);
    const answers = await Promise.all(
      amounts.map((amount) => payouts.request(caller, ROUTE, { ...body, amount })),
    );
    const winner = (await payouts.row(caller.creation_id))?.amount;
    for (const [index, answer] of answers.entries()) {
      expect([answer.status, BigInt(answer.body.amount)]).toEqual([201, winner]);
      const isOther = BigInt(amounts[index] ?? 0) !== winner;
      expect(answer.headers.has('idempotency-mismatch')).toBe(isOther);
      if (isOther) expect(answer.headers.get('idempotent-replayed')).toBe('true');
    }
    expect(answers.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1);
    expect(await payouts.ledger.available(caller.account_id)).toBe(100_000 - Number(winner));
  });

  test('some of them broken: the broken ones get the payout or their own refusal, never a second one', async () => {
    const caller = await payouts.fundedCreator(100_000);
    const bodies = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? body : '{'));
    const answers = await Promise.all(bodies.map((sent) => payouts.request(caller, ROUTE, sent)));
    for (const [index, answer] of answers.entries()) {
      const isBroken = index % 2 === 1;
      expect(answer.status === 201 || (isBroken && answer.status === 400)).toBe(true);
    }
    expect(await payouts.ledger.holdsOf(caller.creation_id)).toHaveLength(1);
    expect(await payouts.ledger.available(caller.account_id)).toBe(99_000);
  });
});

test('many keys of one account at once are held one by one, each with its own event', async () => {
  const caller = await payouts.fundedCreator(30_000);
  const keys = Array.from({ length: 30 }, () => ({ ...caller, creation_id: newId() }));
  const calls = keys.flatMap((key) => [key, key, key]);
  const answers = await Promise.all(calls.map((key) => payouts.request(key, ROUTE, body)));
  expect(answers.every(({ status }) => status === 201)).toBe(true);
  expect(answers.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(30);
  expect(await payouts.ledger.available(caller.account_id)).toBe(0);
  for (const { creation_id } of keys) expect(await payouts.eventsOf(creation_id)).toHaveLength(1);
});

test('a caller that waits no longer is answered 500 in time; the same key finds what became of it', async () => {
  const caller = await payouts.fundedCreator(5_000);
  const way = Promise.withResolvers<void>();
  payouts.network.trouble(...TAKE, way.promise);
  const started = performance.now();
  const answer = await payouts.request(caller, ROUTE, body, {
    [INTERNAL_HEADERS.timeoutMs]: '300',
  });
  expect([answer.status, answer.body.code]).toEqual([500, 'INTERNAL_ERROR']);
  expect(performance.now() - started).toBeLessThan(2_000);
  way.resolve();
  const repeated = await payouts.request(caller, ROUTE, body);
  expect(repeated.status).toBe(201);
  expect(repeated.headers.get('idempotent-replayed')).toBe('true');
  expect(await payouts.ledger.holdsOf(caller.creation_id)).toHaveLength(1);
});

test('a refusal of the ledger that is not about money is 500, and nothing is decided', async () => {
  const caller = await payouts.fundedCreator(5_000);
  payouts.network.trouble(...TAKE, { status: 401, body: { code: 'UNAUTHORIZED' } });
  const answer = await payouts.request(caller, ROUTE, body);
  expect([answer.status, answer.body.code, answer.body.details]).toEqual([
    500,
    'INTERNAL_ERROR',
    [],
  ]);
  expect((await payouts.row(caller.creation_id))?.status).toBe('intent');
  expect((await payouts.request(caller, ROUTE, body)).status).toBe(201);
});

test('a creation id of another account is no way to its payout', async () => {
  const owner = await payouts.fundedCreator(5_000);
  await payouts.request(owner, ROUTE, body);
  const thief = { ...(await payouts.fundedCreator(5_000)), creation_id: owner.creation_id };
  const answer = await payouts.request(thief, ROUTE, body);
  expect([answer.status, answer.body.code]).toEqual([500, 'INTERNAL_ERROR']);
  expect(JSON.stringify(answer.body)).not.toContain(owner.creation_id);
  expect(await payouts.ledger.available(thief.account_id)).toBe(5_000);
});

test('the trace of the request is kept for those who take the payout up later', async () => {
  const caller = await payouts.fundedCreator(5_000);
  await payouts.request(caller, ROUTE, body);
  const rows = await payouts.db.query<{ same: boolean | null }>(
    sql`
      select payouts.check_traceparent is not distinct from events.traceparent as same
      from payouts join events on events.key = payouts.id::text
      where payouts.id = ${caller.creation_id}`,
  );
  expect(rows).toEqual([{ same: true }]);
});

describe('every key type is taken, echoed as sent, and stored as the acquirer wants it', () => {
  test.each([
    ['cpf', '529.982.247-25', '52998224725'],
    ['cnpj', '12.abc.345/01de-35', '12ABC34501DE35'],
    ['email', 'Jane.Doe+Loja@Example.COM', 'jane.doe+loja@example.com'],
    ['phone', '(11) 98765-4321', '+5511987654321'],
    ['random', '123E4567-E12B-12D1-A456-426655440000', '123e4567-e12b-12d1-a456-426655440000'],
  ])('%s %s', async (pix_key_type, pix_key, canonical) => {
    const caller = await payouts.fundedCreator(1_000);
    const created = await payouts.request(caller, ROUTE, { amount: 1_000, pix_key_type, pix_key });
    expect(created.status).toBe(201);
    expect(created.body.recipient).toMatchObject({ pix_key_type, pix_key });
    const read = await payouts.request(caller, `GET /v1/payouts/${caller.creation_id}`);
    expect(read.body).toEqual(created.body);
    expect((await payouts.row(caller.creation_id))?.pixKeyCanonical).toBe(canonical);
  });
});

/** Bodies near the valid one: some fields taken away, replaced by anything, or joined by strangers. */
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: 'grapheme' }),
  fc.double(),
);
const nearlyValid = fc
  .record({
    changes: fc.dictionary(
      fc.constantFrom(
        'amount',
        'method',
        'pix_key_type',
        'pix_key',
        'recipient_name',
        'recipient_document',
        'description',
        'reference',
        'webhook_url',
        'webhook_secret',
        '__proto__',
        'constructor',
        'status',
        'id',
      ),
      anything,
      { maxKeys: 4 },
    ),
  })
  .map(({ changes }) => ({ ...body, ...changes }));

test('whatever is sent, the answer is a payout of the contract or a refusal that stores nothing', async () => {
  const codes = new Set<string>([...PUBLIC_ROUTES.createPayout.errors, 'VALIDATION_ERROR']);
  const account = await payouts.fundedCreator(1_000_000);
  let held = 0;
  await fc.assert(
    fc.asyncProperty(nearlyValid, async (sent) => {
      const caller = { ...account, creation_id: newId() };
      const answer = await payouts.request(caller, ROUTE, sent);
      const row = await payouts.row(caller.creation_id);
      if (answer.status === 201) {
        expect(Payout.parse(answer.body)).toEqual(answer.body);
        expect(row?.id).toBe(caller.creation_id);
        held += answer.body.amount;
        return;
      }
      expect(codes).toContain(answer.body.code);
      expect([400, 422]).toContain(answer.status);
      expect(Object.keys(answer.body).sort()).toEqual(['code', 'details', 'message']);
      expect(row).toBeNull();
    }),
    { numRuns: scaled(50, 150) },
  );
  expect(await payouts.ledger.available(account.account_id)).toBe(1_000_000 - held);
});

test('a body of more than 64 KiB is refused before anything is looked up', async () => {
  const caller = aCreator();
  const answer = await payouts.request(caller, ROUTE, { ...body, unknown: 'x'.repeat(65_536) });
  expect([answer.status, answer.body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
});

test('another media type is a fault of the request; a missing one is not', async () => {
  const caller = await payouts.fundedCreator(1_000);
  const refused = await payouts.request(caller, ROUTE, body, { 'content-type': 'text/plain' });
  expect([refused.status, refused.body.details]).toEqual([400, ['content-type']]);
  const taken = await payouts.request(caller, ROUTE, body, {
    'content-type': 'application/json; charset=utf-8',
  });
  expect(taken.status).toBe(201);
});

test.each([
  [{ 'content-encoding': 'gzip' }, 'content-encoding'],
  [{ 'content-type': 'nonsense' }, 'content-type'],
  [{ 'content-type': '' }, 'content-type'],
])(
  'a body that its headers do not let anybody read is a fault; under a known key it is a mismatch: %j',
  async (headers, detail) => {
    const caller = await payouts.fundedCreator(1_000);
    const refused = await payouts.request(caller, ROUTE, body, headers);
    expect([refused.status, refused.body.details]).toEqual([400, [detail]]);
    const first = await payouts.request(caller, ROUTE, body);
    const again = await payouts.request(caller, ROUTE, body, headers);
    expect([first.status, again.status, again.body.id]).toEqual([201, 201, first.body.id]);
    expect([
      again.headers.get('idempotent-replayed'),
      again.headers.get('idempotency-mismatch'),
    ]).toEqual(['true', 'true']);
  },
);
