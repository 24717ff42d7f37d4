import { newId } from '@pixmesh/kernel/ids';
import { openSecret } from '@pixmesh/kernel/sealed-secret';
import { named, sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { followTopic } from '@pixmesh/testkit/read-topic';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import {
  type ChargesUnderTest,
  type Json,
  RECEIVER,
  startChargesUnderTest,
} from '#test/charges-under-test.ts';

let charges: ChargesUnderTest;

beforeAll(async () => {
  charges = await startChargesUnderTest();
});
afterEach(async () => {
  await charges.simulator.control('DELETE', '/control/faults');
});
afterAll(async () => {
  await charges[Symbol.asyncDispose]();
});

const body = {
  amount: 1_500,
  customer: { name: 'Ana Souza', email: 'ana@example.com', document: '529.982.247-25' },
};

function aCreator(changes: Parameters<typeof aCaller>[0] = {}) {
  return { ...aCaller(changes), creation_id: newId() };
}

async function setFaults(...rules: object[]): Promise<void> {
  await charges.simulator.control('PUT', '/control/faults', { seed: 1, rules });
}

async function issuedAtAcquirer(id: string): Promise<number> {
  const page = (await charges.simulator.control('GET', '/control/journal?limit=1000')) as Json;
  const txid = id.replaceAll('-', '');
  return page.data.filter((entry: Json) => entry.txid === txid && entry.kind === 'issued').length;
}

async function eventsOf(id: string): Promise<{ type: string; sequence: number; message: Json }[]> {
  return await charges.db.query(
    named(
      'test_events',
      sql`select type, sequence, message from events where key = ${id} order by sequence`,
    ),
  );
}

test('a created charge is answered, stored, and announced by created and emitted in one commit', async () => {
  await using topic = followTopic(charges.topicPrefix, 'charges.events.v1');
  const caller = aCreator();
  const created = await charges.request(caller, 'POST /v1/charges', body);
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    id: caller.creation_id,
    object: 'charge',
    status: 'pending',
    amount: 1_500,
    currency: 'BRL',
    method: 'pix',
    description: null,
    reference: null,
    customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
    pix: { br_code: expect.stringMatching(/^000201/), end_to_end_id: null },
    receiver: RECEIVER,
    refunded_amount: 0,
    webhook_url: null,
    expires_at: expect.any(String),
    paid_at: null,
    failure_reason: null,
    created_at: expect.any(String),
  });
  const lifetime = Date.parse(created.body.expires_at) - Date.parse(created.body.created_at);
  expect(lifetime).toBe(86_400_000);
  const events = await eventsOf(caller.creation_id);
  expect(events.map((event) => [event.type, event.sequence])).toEqual([
    ['charge.pix.created', 1],
    ['charge.pix.emitted', 2],
  ]);
  for (const event of events) {
    expect(event.message.data).toEqual(created.body);
    expect(event.message).toMatchObject({ source: 'api', destination: null });
  }
  await eventually(() => {
    const mine = topic.messages.filter((message) => message.key === caller.creation_id);
    expect(mine.map((message) => message.headers['type'])).toEqual([
      'charge.pix.created',
      'charge.pix.emitted',
    ]);
  });
});

test('fifty parallel calls of one key make one row, one Pix and one answer without the replay header', async () => {
  const caller = aCreator();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => charges.request(caller, 'POST /v1/charges', body)),
  );
  expect(new Set(answers.map((answer) => `${answer.status} ${answer.body.id}`))).toEqual(
    new Set([`201 ${caller.creation_id}`]),
  );
  expect(answers.filter((answer) => !answer.headers.has('idempotent-replayed'))).toHaveLength(1);
  expect(answers.every((answer) => answer.body.status === 'pending')).toBe(true);
  expect(await issuedAtAcquirer(caller.creation_id)).toBe(1);
  expect(await eventsOf(caller.creation_id)).toHaveLength(2);
});

test.each([
  ['hang', { fault: 'hang' }],
  ['error after the effect', { fault: 'error_after', status: 500 }],
  ['garbage', { fault: 'garbage' }],
  ['reset', { fault: 'reset' }],
])(
  'an unknown outcome (%s) is 500 and processing, then the same key or the job settles it',
  async (_name, rule) => {
    const caller = aCreator();
    await setFaults(
      { operation: 'issueCharge', count: 1, ...rule },
      { operation: 'getCharge', count: 1, fault: 'error_before', status: 503 },
    );
    const first = await charges.request(caller, 'POST /v1/charges', body);
    expect(first.status).toBe(500);
    expect(first.body).toMatchObject({
      code: 'INTERNAL_ERROR',
      details: [],
      charge_id: caller.creation_id,
    });
    const settled = await eventually(async () => {
      const answer = await charges.request(caller, 'POST /v1/charges', body);
      expect(answer.body.status).toBe('pending');
      return answer;
    });
    expect(settled.status).toBe(201);
    expect(settled.headers.get('idempotent-replayed')).toBe('true');
    expect(await issuedAtAcquirer(caller.creation_id)).toBe(1);
    expect((await eventsOf(caller.creation_id)).map((event) => event.sequence)).toEqual([1, 2]);
  },
);

test('an unknown outcome is settled by the job alone', async () => {
  const caller = aCreator();
  await setFaults({ operation: 'issueCharge', count: 1, fault: 'error_before', status: 500 });
  const first = await charges.request(caller, 'POST /v1/charges', body);
  expect(first.status).toBe(500);
  await eventually(async () => {
    const read = await charges.request(caller, `GET /v1/charges/${caller.creation_id}`);
    expect(read.body.status).toBe('pending');
  });
  expect(await issuedAtAcquirer(caller.creation_id)).toBe(1);
});

test('a refusal is 422 with the stored charge; its key returns it as failed; only failed is announced', async () => {
  const caller = aCreator();
  const message = 'Documento bloqueado';
  await setFaults({
    operation: 'issueCharge',
    fault: 'refusal',
    count: 1,
    code: 'documento_bloqueado',
    message,
  });
  const refused = await charges.request(caller, 'POST /v1/charges', body);
  expect(refused.status).toBe(422);
  expect(refused.body).toEqual({
    code: 'ACQUIRER_REJECTED',
    message,
    details: [],
    charge_id: caller.creation_id,
  });
  const replayed = await charges.request(caller, 'POST /v1/charges', body);
  expect(replayed.status).toBe(201);
  expect(replayed.body).toMatchObject({
    status: 'failed',
    expires_at: null,
    failure_reason: `documento_bloqueado: ${message}`,
  });
  expect((await eventsOf(caller.creation_id)).map((event) => event.type)).toEqual([
    'charge.pix.failed',
  ]);
});

test('a refusal does not count while an earlier call is without an answer', async () => {
  const caller = aCreator();
  await setFaults(
    { operation: 'issueCharge', count: 1, fault: 'error_before', status: 500 },
    { operation: 'issueCharge', fault: 'refusal', code: 'valor_invalido', message: 'no' },
  );
  expect((await charges.request(caller, 'POST /v1/charges', body)).status).toBe(500);
  await eventually(async () => {
    const [row] = await charges.db.query<{ uncounted_refusal: string | null; status: string }>(
      named(
        'test_row',
        sql`select uncounted_refusal, status from charges where id = ${caller.creation_id}`,
      ),
    );
    expect(row).toEqual({ uncounted_refusal: 'valor_invalido: no', status: 'processing' });
  });
});

test('a body that is refused stores nothing and leaves the key free', async () => {
  const caller = aCreator();
  const refused = await charges.request(caller, 'POST /v1/charges', { ...body, amount: 99 });
  expect(refused.body.code).toBe('AMOUNT_BELOW_MINIMUM');
  expect(await charges.db.query(sql`select from charges where id = ${caller.creation_id}`)).toEqual(
    [],
  );
  const corrected = await charges.request(caller, 'POST /v1/charges', body);
  expect(corrected.status).toBe(201);
  expect(corrected.headers.has('idempotent-replayed')).toBe(false);
});

test('an inactive account creates nothing, but its old keys still answer', async () => {
  const caller = aCreator();
  const { settings } = caller;
  const created = await charges.request(caller, 'POST /v1/charges', body);
  const inactive = { ...caller, settings: { ...settings, status: 'inactive' as const } };
  const replayed = await charges.request(inactive, 'POST /v1/charges', body);
  expect(replayed.status).toBe(201);
  expect(replayed.body).toEqual(created.body);
  const refused = await charges.request(
    { ...inactive, creation_id: newId() },
    'POST /v1/charges',
    body,
  );
  expect(refused.status).toBe(422);
  expect(refused.body.code).toBe('ACCOUNT_INACTIVE');
});

test('another or a broken body under the key answers the first charge, as a mismatch', async () => {
  const caller = aCreator();
  const created = await charges.request(caller, 'POST /v1/charges', body);
  for (const other of [{ ...body, amount: 1_501 }, '{"amount":', { amount: 'x' }]) {
    const answer = await charges.request(caller, 'POST /v1/charges', other);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('idempotency-mismatch')).toBe('true');
    expect(answer.body).toEqual(created.body);
  }
  const same = {
    customer: { ...body.customer, document: '52998224725' },
    amount: 1_500,
    method: 'pix',
    expires_in: 86_400,
  };
  const answer = await charges.request(caller, 'POST /v1/charges', same);
  expect(answer.headers.has('idempotency-mismatch')).toBe(false);
});

test('a repeat is no mismatch because the default expiry of the account has changed meanwhile', async () => {
  const caller = aCreator();
  const { settings } = caller;
  const created = await charges.request(caller, 'POST /v1/charges', body);
  const later = { ...caller, settings: { ...settings, charge_expires_in: 7_200 } };
  const mismatchOf = async (sent: object) => {
    const answer = await charges.request(later, 'POST /v1/charges', sent);
    expect(answer.body).toEqual(created.body);
    return answer.headers.get('idempotency-mismatch');
  };
  expect(await mismatchOf(body)).toBeNull();
  expect(await mismatchOf({ ...body, expires_in: 86_400 })).toBeNull();
  expect(await mismatchOf({ ...body, expires_in: 7_200 })).toBe('true');
  const explicit = { ...caller, creation_id: newId() };
  await charges.request(explicit, 'POST /v1/charges', { ...body, expires_in: 7_200 });
  const other = await charges.request(explicit, 'POST /v1/charges', body);
  expect(other.headers.get('idempotency-mismatch')).toBe('true');
});

test.each([
  [{ 'content-encoding': 'gzip' }, 'content-encoding'],
  [{ 'content-type': 'text/plain' }, 'content-type'],
  [{ 'content-type': 'nonsense' }, 'content-type'],
  [{ 'content-type': '' }, 'content-type'],
])(
  'a body that its headers make unreadable is a fault; under a known key it is a mismatch: %j',
  async (headers, detail) => {
    const caller = aCreator();
    const refused = await charges.request(caller, 'POST /v1/charges', body, headers);
    expect([refused.status, refused.body.details]).toEqual([400, [detail]]);
    const first = await charges.request(caller, 'POST /v1/charges', body);
    const again = await charges.request(caller, 'POST /v1/charges', body, headers);
    expect([first.status, again.status, again.body.id]).toEqual([201, 201, first.body.id]);
    expect([
      again.headers.get('idempotent-replayed'),
      again.headers.get('idempotency-mismatch'),
    ]).toEqual(['true', 'true']);
  },
);

test('the webhook secret is stored sealed, bound to account and charge', async () => {
  const caller = aCreator();
  const webhook = { webhook_url: 'https://loja.com.br/hook', webhook_secret: 'whsec_canary' };
  await charges.request(caller, 'POST /v1/charges', { ...body, ...webhook });
  const [event] = await eventsOf(caller.creation_id);
  const { sealed_secret: sealed, url } = event?.message.destination ?? {};
  expect(url).toBe(webhook.webhook_url);
  expect(JSON.stringify(event)).not.toContain('whsec_canary');
  const context = `${caller.account_id}/${caller.creation_id}`;
  expect(openSecret(charges.sealing.privateKeys, sealed, context)).toBe('whsec_canary');
});

test('a charge is visible to its own account only, and never without a token', async () => {
  const caller = aCreator();
  await charges.request(caller, 'POST /v1/charges', body);
  const own = await charges.request(caller, `GET /v1/charges/${caller.creation_id}`);
  expect(own.status).toBe(200);
  const notFound = { code: 'CHARGE_NOT_FOUND', message: 'Charge not found.', details: [] };
  for (const id of [caller.creation_id, newId(), 'nonsense', 'x'.repeat(500)]) {
    const other = await charges.request(aCaller(), `GET /v1/charges/${id}`);
    expect([other.status, other.body]).toEqual([404, notFound]);
  }
  expect((await charges.request(null, `GET /v1/charges/${caller.creation_id}`)).status).toBe(401);
});
