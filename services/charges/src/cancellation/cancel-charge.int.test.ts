import { armFailpoints } from '@pixmesh/service/failpoints';
import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { type ChargesUnderTest, startChargesUnderTest } from '#test/charges-under-test.ts';

let charges: ChargesUnderTest;

beforeAll(async () => {
  charges = await startChargesUnderTest();
});
afterEach(async () => {
  armFailpoints({});
  await charges.simulator.control('DELETE', '/control/faults');
});
afterAll(async () => {
  await charges[Symbol.asyncDispose]();
});

const operatorId = newId();

async function aPendingCharge() {
  const caller = { ...aCaller(), creation_id: newId() };
  const created = await charges.request(caller, 'POST /v1/charges', {
    amount: 2_000,
    customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
  });
  expect(created.body.status).toBe('pending');
  return { caller, id: caller.creation_id };
}

async function cancel(id: string) {
  const body = { operator_id: operatorId };
  return await charges.request(null, `POST /internal/charges/${id}/cancel`, body);
}

async function pay(id: string): Promise<void> {
  await charges.simulator.control('POST', `/control/charges/${toAcquirerId(id)}/pay`, {});
}

async function eventsOf(id: string): Promise<string[]> {
  const rows = await charges.db.query<{ type: string }>(
    sql`select type from events where key = ${id} order by sequence`,
  );
  return rows.map(({ type }) => type);
}

/** Canceled here, once, and taken away there. */
async function expectCanceled(id: string) {
  expect(await eventsOf(id)).toEqual([
    'charge.pix.created',
    'charge.pix.emitted',
    'charge.pix.canceled',
  ]);
  const history = await charges.db.query<{ cause: string }>(
    sql`select cause from charge_history where charge_id = ${id} order by version`,
  );
  expect(history.map(({ cause }) => cause)).toEqual(['created', 'issued', 'canceled']);
  expect(await isRemoved(id)).toBe(true);
}

/** What the acquirer's own record says; a Pix for a charge that was removed may still be made there (decision 73). */
async function isRemoved(id: string): Promise<boolean> {
  type Journal = { kind: string; txid: string | null }[];
  const body = (await charges.simulator.control('GET', '/control/journal?limit=100000')) as
    | Journal
    | { data: Journal };
  const entries = Array.isArray(body) ? body : body.data;
  return entries.some(({ kind, txid }) => kind === 'canceled' && txid === toAcquirerId(id));
}

function fault(operation: string, kind: string, more: object = {}) {
  return { operation, fault: kind, count: 1, ...more };
}

async function faults(...rules: object[]): Promise<void> {
  await charges.simulator.control('PUT', '/control/faults', { seed: 1, rules });
}

test('a charge for which money of another amount came cannot be canceled, however often it is tried', async () => {
  const { caller, id } = await aPendingCharge();
  const path = `/control/charges/${toAcquirerId(id)}/pay`;
  await charges.simulator.control('POST', path, { amount: 1_999 });
  for (let tries = 1; tries <= 2; tries += 1) {
    expect(await cancel(id)).toMatchObject({ status: 409, body: { code: 'CHARGE_NOT_PENDING' } });
  }
  const shown = await charges.request(caller, `GET /v1/charges/${id}`);
  expect(shown.body.status).toBe('pending');
});

test('a pending charge is taken away at the acquirer, canceled and announced', async () => {
  const { caller, id } = await aPendingCharge();
  const answer = await cancel(id);
  expect(answer.status).toBe(200);
  expect(answer.headers.has('idempotent-replayed')).toBe(false);
  const shown = await charges.request(caller, `GET /v1/charges/${id}`);
  expect(answer.body).toEqual({
    ...shown.body,
    account_id: caller.account_id,
    application_id: caller.application_id,
    source: 'api',
    accepted_end_to_end_id: null,
    issuing: {
      unanswered_puts: 0,
      last_put_at: expect.any(String),
      last_put_error: null,
      uncounted_refusal: null,
    },
    status_check: { checked_at: null, acquirer: null, next_check_at: expect.any(String) },
  });
  expect(shown.body.status).toBe('canceled');
  await expectCanceled(id);
});

test('a repeat is answered with the canceled charge and marked, parallel ones too', async () => {
  const { id } = await aPendingCharge();
  const answers = await Promise.all(Array.from({ length: 4 }, () => cancel(id)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(answers.map(({ body }) => body.status)).toEqual(answers.map(() => 'canceled'));
  const later = await cancel(id);
  expect([later.status, later.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  await expectCanceled(id);
});

test('a charge past its time is canceled', async () => {
  const { id } = await aPendingCharge();
  await charges.db.query(
    sql`update charges set expires_at = now() - interval '1 second' where id = ${id}`,
  );
  expect((await cancel(id)).body.status).toBe('canceled');
});

test('a Pix that came first wins: the one check finds it, and the charge is being paid', async () => {
  const { id } = await aPendingCharge();
  await pay(id);
  const answer = await cancel(id);
  expect([answer.status, answer.body.code]).toEqual([409, 'CHARGE_NOT_PENDING']);
  const [row] = await charges.db.query<{ status: string; accepted_e2e: string | null }>(
    sql`select status, accepted_e2e from charges where id = ${id}`,
  );
  expect(row).toMatchObject({ status: 'pending', accepted_e2e: expect.any(String) });
  expect(await eventsOf(id)).not.toContain('charge.pix.canceled');
});

test('a charge that is being paid is refused without a call to the acquirer', async () => {
  const { id } = await aPendingCharge();
  await pay(id);
  await charges.announce(id);
  await eventually(async () => {
    const [row] = await charges.db.query<{ accepted_e2e: string | null }>(
      sql`select accepted_e2e from charges where id = ${id}`,
    );
    expect(row?.accepted_e2e).not.toBeNull();
  });
  await faults(fault('cancelCharge', 'error_after'));
  expect((await cancel(id)).body.code).toBe('CHARGE_NOT_PENDING');
});

test('payment and cancellation at once: one of them happened, and both sides agree which', async () => {
  for (let round = 0; round < 8; round += 1) {
    const { id } = await aPendingCharge();
    const [answer] = await Promise.all([cancel(id), pay(id)]);
    const removed = await isRemoved(id);
    expect(answer.status).toBe(removed ? 200 : 409);
    await charges.announce(id);
    // Paid in time it pays the charge; made after the removal it stands in suspense.
    const disposition = removed ? 'suspense' : 'credit';
    await eventually(async () => {
      const recorded = await charges.db.query<{ disposition: string }>(
        sql`select disposition from received_pix where charge_id = ${id}`,
      );
      expect(recorded).toEqual([{ disposition }]);
    });
    expect((await eventsOf(id)).includes('charge.pix.canceled')).toBe(removed);
  }
});

describe('an answer that never comes', () => {
  test.each(['error_after', 'garbage', 'hang'])(
    '(%s) after the effect is found by the check',
    async (kind) => {
      const { id } = await aPendingCharge();
      await faults(fault('cancelCharge', kind));
      const answer = await cancel(id);
      // A hang and garbage may stand before the effect as well: then answer knows yet.
      if (kind === 'error_after') expect(answer.status).toBe(200);
      else expect([200, 500]).toContain(answer.status);
      const again = await cancel(id);
      expect([again.status, again.body.status]).toEqual([200, 'canceled']);
      await expectCanceled(id);
    },
  );

  test('before the effect is 500, nothing changed, and a repeat cancels', async () => {
    const { id } = await aPendingCharge();
    await faults(fault('cancelCharge', 'error_before'));
    const answer = await cancel(id);
    expect([answer.status, answer.body.code]).toEqual([500, 'INTERNAL_ERROR']);
    expect(await eventsOf(id)).toEqual(['charge.pix.created', 'charge.pix.emitted']);
    expect((await cancel(id)).body.status).toBe('canceled');
    await expectCanceled(id);
  });

  test('with a check that fails as well is 500; the requested check finds the removal', async () => {
    const { id } = await aPendingCharge();
    // A check of its own may be due just now: no reading sees the removal while this call is answered.
    const unreadable = fault('getCharge', 'error_before', { count: 100 });
    await faults(fault('cancelCharge', 'error_after'), unreadable);
    expect((await cancel(id)).status).toBe(500);
    await faults();
    await eventually(() => expectCanceled(id));
    const again = await cancel(id);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  });
});

describe('a call that dies', () => {
  test.each(['charges.cancel.in-call', 'charges.cancel.after-answer'] as const)(
    'at %s: a check or the repeat cancels, once',
    async (place) => {
      const { id } = await aPendingCharge();
      armFailpoints({ [place]: 'error' });
      expect((await cancel(id)).status).toBe(500);
      expect(await eventsOf(id)).not.toContain('charge.pix.canceled');
      // The lost call may reach the acquirer only after a check that was requested once.
      await eventually(async () => {
        await charges.announce(id);
        await expectCanceled(id);
      });
      expect((await cancel(id)).headers.get('idempotent-replayed')).toBe('true');
      await expectCanceled(id);
    },
  );

  test('after its commit: it is canceled', async () => {
    const { id } = await aPendingCharge();
    armFailpoints({ 'charges.cancel.after-commit': 'error' });
    expect((await cancel(id)).status).toBe(500);
    expect((await cancel(id)).headers.get('idempotent-replayed')).toBe('true');
    await expectCanceled(id);
  });
});

describe('a call that cannot be', () => {
  test('names no charge: 404, before its body is validated', async () => {
    for (const id of [newId(), 'nothing']) {
      const answer = await charges.request(null, `POST /internal/charges/${id}/cancel`, {});
      expect([answer.status, answer.body.code]).toEqual([404, 'CHARGE_NOT_FOUND']);
    }
  });

  test('comes from a tenant: 401', async () => {
    const { caller, id } = await aPendingCharge();
    const route = `POST /internal/charges/${id}/cancel`;
    expect((await charges.request(caller, route)).status).toBe(401);
  });
});
