import { OperatorCharge } from '@pixmesh/contracts/internal/operator-charges';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { newestFirst } from '@pixmesh/testkit/list-pages';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import {
  type ChargesUnderTest,
  type Json,
  startChargesUnderTest,
} from '#test/charges-under-test.ts';
import { type StoredCharge, storeCharge } from '#test/store-charge.ts';

let charges: ChargesUnderTest;

beforeAll(async () => {
  charges = await startChargesUnderTest();
});
afterEach(() => charges.simulator.control('DELETE', '/control/faults'));
afterAll(() => charges[Symbol.asyncDispose]());

const BODY = {
  amount: 1_500,
  customer: { name: 'Ana Souza', email: 'ana@example.com', document: '529.982.247-25' },
};

type Asked = { operator_id: string; creation_id: string; body: unknown };

/** A checkout charge as the gateway asks for it. */
function aRequest(changes: Partial<Asked> = {}) {
  const { settings, account_id: accountId } = aCaller();
  const asked = { operator_id: newId(), creation_id: newId(), settings, body: BODY, ...changes };
  return { accountId, asked, route: `POST /internal/accounts/${accountId}/charges` };
}

const ask = (route: string, body?: unknown) => charges.request(null, route, body);
const store = (changes: Partial<StoredCharge>) => storeCharge(charges.db, changes);
const idsOf = (page: { body: Json }): string[] => page.body.data.map(({ id }: Json) => id);
const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, second));

async function eventsOf(id: string): Promise<{ type: string; message: Json }[]> {
  return await charges.db.query(
    sql`select type, message from events where key = ${id} order by sequence`,
  );
}

describe('a charge of the checkout', () => {
  test('is issued and announced like any other, with no application behind it', async () => {
    const { accountId, asked, route } = aRequest();
    const webhook = { webhook_url: 'https://loja.com.br/hook', webhook_secret: 'whsec_canary' };
    const created = await ask(route, { ...asked, body: { ...BODY, ...webhook } });
    expect(created.status).toBe(201);
    expect(OperatorCharge.parse(created.body)).toMatchObject({
      id: asked.creation_id,
      account_id: accountId,
      application_id: null,
      source: 'checkout',
      status: 'pending',
      pix: { br_code: expect.stringMatching(/^000201/) as string },
    });
    const events = await eventsOf(asked.creation_id);
    expect(events.map(({ type }) => type)).toEqual(['charge.pix.created', 'charge.pix.emitted']);
    for (const { message } of events) {
      expect(message).toMatchObject({
        account_id: accountId,
        application_id: null,
        source: 'checkout',
        destination: { url: webhook.webhook_url },
      });
    }
    expect(JSON.stringify(events)).not.toContain('whsec_canary');
  });

  test('does not exist for /v1: neither by id, in lists, nor as a cursor', async () => {
    const { accountId, asked, route } = aRequest();
    await ask(route, asked);
    const owner = aCaller({ account_id: accountId });
    const read = await charges.request(owner, `GET /v1/charges/${asked.creation_id}`);
    expect([read.status, read.body.code]).toEqual([404, 'CHARGE_NOT_FOUND']);
    for (const query of ['', '?status=pending', '?method=pix']) {
      expect(idsOf(await charges.request(owner, `GET /v1/charges${query}`))).toEqual([]);
    }
    const behind = await charges.request(
      owner,
      `GET /v1/charges?starting_after=${asked.creation_id}`,
    );
    expect([behind.status, behind.body.details]).toEqual([400, ['starting_after']]);
  });

  test('is made once by any number of calls of one key', async () => {
    const { asked, route } = aRequest();
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(route, asked)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`))).toEqual(
      new Set([`201 ${asked.creation_id}`]),
    );
    expect(answers.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1);
    expect(await eventsOf(asked.creation_id)).toHaveLength(2);
  });

  test('answers another or an unreadable body under its key with what is there, as a mismatch', async () => {
    const { asked, route } = aRequest();
    const created = await ask(route, asked);
    for (const body of [{ ...BODY, amount: 1_501 }, null, { amount: 'x' }]) {
      const answer = await ask(route, { ...asked, body });
      expect([answer.status, answer.headers.get('idempotency-mismatch')]).toEqual([201, 'true']);
      // As it is now: its next status check may be another one.
      const { status_check } = answer.body;
      expect(answer.body).toEqual({ ...created.body, status_check });
    }
  });

  test.each([
    [{ ...BODY, amount: 99 }, 400, 'AMOUNT_BELOW_MINIMUM', []],
    [{ ...BODY, method: 'card' }, 400, 'METHOD_NOT_SUPPORTED', []],
    [{ amount: 1.5 }, 400, 'VALIDATION_ERROR', ['amount', 'customer']],
    [null, 400, 'VALIDATION_ERROR', ['body']],
  ])('is judged like a body of /v1: %j', async (body, status, code, details) => {
    const { asked, route } = aRequest({ body });
    const answer = await ask(route, asked);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.body.details.toSorted()).toEqual(details);
    const rows = await charges.db.query(sql`select from charges where id = ${asked.creation_id}`);
    expect(rows).toEqual([]);
  });

  test('is refused for an inactive account', async () => {
    const { asked, route } = aRequest();
    const settings = { ...asked.settings, status: 'inactive' };
    const answer = await ask(route, { ...asked, settings });
    expect([answer.status, answer.body.code]).toEqual([422, 'ACCOUNT_INACTIVE']);
  });

  test('that the acquirer refuses stays as a failed one, and its key answers it', async () => {
    const { asked, route } = aRequest();
    const refusal = { fault: 'refusal', code: 'documento_bloqueado', message: 'Bloqueado' };
    const rules = [{ operation: 'issueCharge', count: 1, ...refusal }];
    await charges.simulator.control('PUT', '/control/faults', { seed: 1, rules });
    const refused = await ask(route, asked);
    expect([refused.status, refused.body]).toEqual([
      422,
      {
        code: 'ACQUIRER_REJECTED',
        message: 'Bloqueado',
        details: [],
        charge_id: asked.creation_id,
      },
    ]);
    expect((await ask(route, asked)).body).toMatchObject({ status: 'failed', source: 'checkout' });
  });

  test('whose issuing ended unknown is finished by the job alone', async () => {
    const { asked, route } = aRequest();
    const rules = [{ operation: 'issueCharge', count: 1, fault: 'error_before', status: 500 }];
    await charges.simulator.control('PUT', '/control/faults', { seed: 1, rules });
    const answer = await ask(route, asked);
    expect([answer.status, answer.body.charge_id]).toEqual([500, asked.creation_id]);
    await eventually(async () => {
      const read = await ask(`GET /internal/charges/${asked.creation_id}`);
      expect(read.body).toMatchObject({ status: 'pending', issuing: { unanswered_puts: 0 } });
    });
  });
});

describe('reading one charge', () => {
  test('shows what explains where it stands, of whatever source', async () => {
    for (const source of ['api', 'checkout', 'dashboard'] as const) {
      const { id, accountId } = await store({ source, acceptedE2e: `E${newId()}` });
      const { status, body } = await ask(`GET /internal/charges/${id.toUpperCase()}`);
      expect(status).toBe(200);
      expect(OperatorCharge.parse(body)).toMatchObject({
        id,
        account_id: accountId,
        source,
        accepted_end_to_end_id: expect.stringMatching(/^E/) as string,
        issuing: { unanswered_puts: 0, last_put_at: null, uncounted_refusal: null },
      });
    }
  });

  test.each([newId(), 'nonsense', 'x'.repeat(300)])('of an unknown id is a 404: %s', async (id) => {
    const answer = await ask(`GET /internal/charges/${id}`);
    expect([answer.status, answer.body.code]).toEqual([404, 'CHARGE_NOT_FOUND']);
  });
});

describe('the list', () => {
  test('is newest first over all accounts and sources, in pages that meet', async () => {
    const stored: StoredCharge[] = [];
    const reference = newId();
    for (let index = 0; index < 21; index += 1) {
      const source = (['api', 'checkout', 'dashboard'] as const)[index % 3] ?? 'api';
      stored.push(await store({ source, createdAt: at(Math.floor(index / 4)) }));
    }
    const ids = stored.map(({ id }) => id);
    await charges.db.query(
      sql`update charges set reference = ${reference} where id = any (${ids}::uuid[])`,
    );
    const wanted = stored.toSorted(newestFirst).map(({ id }) => id);
    for (const filter of [`reference=${reference}`, 'created_before=2026-11-21T12:00:06Z']) {
      const seen: string[] = [];
      for (let pages = 0; pages < 3; pages += 1) {
        const after = seen.length > 0 ? `&starting_after=${seen.at(-1)}` : '';
        seen.push(...idsOf(await ask(`GET /internal/charges?limit=7&${filter}${after}`)));
      }
      expect(seen.filter((id) => ids.includes(id as StoredCharge['id']))).toEqual(wanted);
    }
  });

  test('shows each charge under the status that it has now, and under no other', async () => {
    const accountId = newId<StoredCharge['accountId']>();
    const past = { createdAt: at(0), expiresAt: at(60) };
    const statuses = ['processing', 'pending', 'paid', 'canceled', 'failed'] as const;
    for (const source of ['api', 'checkout'] as const) {
      for (const status of [...statuses, 'refunded', 'charged_back', 'infraction'] as const) {
        await store({ accountId, source, status });
      }
      await store({ accountId, source, ...past });
      await store({ accountId, source, ...past, acceptedE2e: newId() });
    }
    const all = await ask(`GET /internal/charges?account_id=${accountId}`);
    expect(all.body.data).toHaveLength(20);
    const shown = new Map<string, string[]>();
    for (const { id, status } of all.body.data) {
      shown.set(status, [...(shown.get(status) ?? []), id]);
    }
    expect(shown.get('expired')).toHaveLength(2);
    expect(shown.get('pending')).toHaveLength(4);
    for (const [status, ids] of shown) {
      const page = await ask(`GET /internal/charges?account_id=${accountId}&status=${status}`);
      expect([status, idsOf(page)]).toEqual([status, ids]);
      // Over all accounts, others may stand among them.
      const everywhere = await ask(`GET /internal/charges?status=${status}&limit=100`);
      expect(idsOf(everywhere)).toEqual(expect.arrayContaining(ids));
      const found = new Set(everywhere.body.data.map((item: Json) => item.status));
      expect(found).toEqual(new Set([status]));
    }
  });

  test('filters by source, Pix, reference and instants, alone and together', async () => {
    const accountId = newId<StoredCharge['accountId']>();
    const [acceptedE2e, reference] = [`E${newId()}`, newId()];
    const api = await store({ accountId, createdAt: at(1) });
    const checkout = await store({ accountId, source: 'checkout', createdAt: at(2), acceptedE2e });
    await charges.db.query(sql`
      insert into received_pix (end_to_end_id, charge_id, account_id, amount, paid_at, disposition)
      values (${acceptedE2e}, ${checkout.id}, ${accountId}, 12345, now(), 'credit')`);
    const dashboard = await store({ accountId, source: 'dashboard', createdAt: at(3) });
    const elsewhere = await store({ source: 'checkout', createdAt: at(4) });
    await charges.db.query(sql`
      update charges set reference = ${reference} where id in (${api.id}, ${elsewhere.id})`);
    const list = async (query: string) => idsOf(await ask(`GET /internal/charges?${query}`));
    const of = `account_id=${accountId}`;
    expect(await list(of)).toEqual([dashboard.id, checkout.id, api.id]);
    expect(await list(`account_id=${accountId.toUpperCase()}`)).toHaveLength(3);
    expect(await list(`${of}&source=api`)).toEqual([api.id]);
    expect(await list(`${of}&source=checkout`)).toEqual([checkout.id]);
    expect(await list(`${of}&source=checkout&status=paid`)).toEqual([]);
    expect((await list('source=checkout&limit=100')).slice(0, 100)).toEqual(
      expect.arrayContaining([elsewhere.id, checkout.id]),
    );
    expect(await list(`end_to_end_id=${acceptedE2e}`)).toEqual([checkout.id]);
    expect(await list(`end_to_end_id=${acceptedE2e}&source=api`)).toEqual([]);
    expect(await list(`end_to_end_id=E${newId()}`)).toEqual([]);
    expect(await list(`reference=${reference}`)).toEqual([elsewhere.id, api.id]);
    expect(await list(`reference=${reference}&${of}`)).toEqual([api.id]);
    expect(await list(`reference=${reference}&source=checkout`)).toEqual([elsewhere.id]);
    expect(await list(`${of}&created_after=2026-11-21T12:00:01Z`)).toEqual([
      dashboard.id,
      checkout.id,
    ]);
    expect(await list(`${of}&created_before=2026-11-21T12:00:02Z`)).toEqual([api.id]);
    expect(await list(`${of}&starting_after=${dashboard.id}`)).toEqual([checkout.id, api.id]);
    expect(await list(`${of}&source=api&starting_after=${checkout.id}`)).toEqual([api.id]);
  });

  test.each([
    ['limit=0', ['limit']],
    ['status=open', ['status']],
    ['source=ted', ['source']],
    ['account_id=x', ['account_id']],
    ['reference=%00', ['reference']],
    ['created_after=yesterday', ['created_after']],
    ['starting_after=nonsense', ['starting_after']],
    [`starting_after=${newId()}`, ['starting_after']],
    ['status=x&source=y', ['source', 'status']],
  ])('?%s is a fault of its parameters', async (query, names) => {
    const answer = await ask(`GET /internal/charges?${query}`);
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(answer.body.details.toSorted()).toEqual(names);
  });

  test('of one account takes no cursor of another', async () => {
    const [one, other] = [await store({}), await store({})];
    const path = `GET /internal/charges?account_id=${one.accountId}`;
    expect((await ask(`${path}&starting_after=${other.id}`)).body.details).toEqual([
      'starting_after',
    ]);
  });
});

test('no tenant may call any of it', async () => {
  const { accountId, asked } = aRequest();
  const { id } = await store({});
  const tenant = aCaller({ account_id: accountId });
  const calls = [
    'GET /internal/charges',
    `GET /internal/charges/${id}`,
    `POST /internal/accounts/${accountId}/charges`,
  ];
  for (const route of calls) {
    const sent = route.startsWith('POST') ? asked : undefined;
    expect([route, (await charges.request(tenant, route, sent)).status]).toEqual([route, 401]);
  }
});
