import type { RefundOutcome } from '@pixmesh/acquirer/acquirer';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { countOverdue, refundOrders } from '#refunds/refund-orders.sql.ts';
import { followRefund, type FollowRefundDeps } from '#refunds/follow-refund.ts';
import { followItemReturn } from '#suspense/follow-item-return.ts';
import { returnItemOrders } from '#suspense/resolutions.sql.ts';

/** The one mechanism under both kinds of ordered returns, against the tables of both. */
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

const LEASE_MS = 60_000;

/** A refund and a return of an item, due to be ordered. */
async function storeOrder(table: 'refunds' | 'suspense_resolutions'): Promise<string> {
  const id = newId();
  const pix = `E${id.replaceAll('-', '').slice(0, 31)}`;
  await database.db.query(
    table === 'refunds'
      ? sql`
          insert into refunds (
            id, charge_id, account_id, end_to_end_id, amount, status, hold_id, requested_by, fingerprint, check_at
          )
          values (
            ${id}, ${newId()}, ${newId()}, ${pix}, 500, 'processing', ${newId()}, ${newId()}, '\\x00', now() - interval '1 second'
          )`
      : sql`
          insert into suspense_resolutions (id, item_id, end_to_end_id, amount, action, check_at)
          values (${id}, ${newId()}, ${pix}, 500, 'return', now() - interval '1 second')`,
  );
  return id;
}

type Kind = {
  store(): Promise<string>;
  /** One check of whatever is due, whose calls are answered `answer`; the calls that were made. */
  check(answer: RefundOutcome, callBeforeMs?: number): Promise<number>;
  read(id: string): Promise<object | undefined>;
  /** Another process checks it from now on. */
  takeOver(id: string): Promise<void>;
};

function depsWith(refund: () => Promise<RefundOutcome>) {
  const checks = { firstMs: 1_000, maxMs: 2_000 };
  const deps: Partial<FollowRefundDeps> = {
    db: database.db,
    logger: createLogger('charges', 'silent'),
    wakeOutbox: () => undefined,
    acquirer: { refund, getRefund: () => Promise.resolve({ kind: 'not_found' }) },
    acquirerTimeoutMs: 0,
    refusalWaitMs: 900_000,
    unknownChecks: checks,
    acceptedChecks: checks,
  };
  return deps as FollowRefundDeps;
}

function kindOf(table: 'refunds' | 'suspense_resolutions'): Kind {
  const from = table === 'refunds' ? sql`refunds` : sql`suspense_resolutions`;
  return {
    store: () => storeOrder(table),
    check: async (answer, callBeforeMs = Number.POSITIVE_INFINITY) => {
      let calls = 0;
      const deps = depsWith(() => {
        calls += 1;
        return Promise.resolve(answer);
      });
      await database.db.query(
        sql`update ${from} set check_at = now() - interval '1 second' where status = 'processing'`,
      );
      const lease = { limit: 10, leaseMs: LEASE_MS };
      if (table === 'refunds') {
        const rows = await refundOrders.leaseDue(database.db, 'routine', lease);
        await Promise.all(rows.map((row) => followRefund(deps, { row, callBeforeMs })));
      } else {
        const rows = await returnItemOrders.leaseDue(database.db, 'routine', lease);
        await Promise.all(rows.map((row) => followItemReturn(deps, { row, callBeforeMs })));
      }
      return calls;
    },
    read: async (id) => {
      const [row] = await database.db.query(sql`
        select status, unanswered_puts, first_put_at is not null as was_sent, last_put_at is not null as was_put,
          uncounted_refusal, failure_reason, lease_token is null as is_free
        from ${from} where id = ${id}`);
      return row;
    },
    takeOver: async (id) => {
      await database.db.query(sql`update ${from} set lease_token = ${newId()} where id = ${id}`);
    },
  };
}

const UNKNOWN: RefundOutcome = { kind: 'unknown', cause: 'timeout' };
const REFUSED: RefundOutcome = { kind: 'refused', code: 'valor_invalido', message: 'no' };
const NEVER_CALLED = {
  status: 'processing',
  unanswered_puts: 0,
  was_sent: false,
  was_put: false,
  is_free: true,
};

describe.each(['refunds', 'suspense_resolutions'] as const)('an order of %s', (table) => {
  const kind = kindOf(table);

  test('is not made by a process that slept past its lease, and counts as never made', async () => {
    const id = await kind.store();
    expect(await kind.check(REFUSED, performance.now())).toBe(0);
    expect(await kind.read(id)).toMatchObject(NEVER_CALLED);
    expect(await kind.check(REFUSED)).toBe(1);
    expect(await kind.read(id)).toMatchObject({ status: 'failed', unanswered_puts: 1 });
  });

  test.each(['breaker_open', 'token_timeout'])(
    'that never left (%s) is no unanswered call: the refusal of the next one counts at once',
    async (cause) => {
      const id = await kind.store();
      expect(await kind.check({ kind: 'unknown', cause })).toBe(1);
      expect(await kind.read(id)).toMatchObject(NEVER_CALLED);
      expect(await kind.check(REFUSED)).toBe(1);
      expect(await kind.read(id)).toMatchObject({
        status: 'failed',
        failure_reason: 'valor_invalido: no',
      });
    },
  );

  test('that ended unknown stays counted, whatever never left after it', async () => {
    const id = await kind.store();
    await kind.check(UNKNOWN);
    await kind.check({ kind: 'unknown', cause: 'breaker_open' });
    await kind.check(REFUSED, performance.now());
    expect(await kind.read(id)).toMatchObject({
      unanswered_puts: 1,
      was_sent: true,
      was_put: true,
    });
    await kind.check(REFUSED);
    expect(await kind.read(id)).toMatchObject({
      status: 'processing',
      unanswered_puts: 2,
      uncounted_refusal: 'valor_invalido: no',
    });
  });

  test('is not made under a lease that another process has taken over', async () => {
    const id = await kind.store();
    const orders = table === 'refunds' ? refundOrders : returnItemOrders;
    const rows = await orders.leaseDue(database.db, 'routine', { limit: 10, leaseMs: LEASE_MS });
    const row = rows.find((one) => one.id === id);
    await kind.takeOver(id);
    expect(await orders.countCall(database.db, row as never)).toBeNull();
    expect(await kind.read(id)).toMatchObject({ unanswered_puts: 0, was_put: false });
  });
});

test('a refund whose calls never leave counts as unanswered, from its creation', async () => {
  const refunds = kindOf('refunds');
  const id = await refunds.store();
  await refunds.check({ kind: 'unknown', cause: 'token_status_401' });
  expect(await refunds.read(id)).toMatchObject(NEVER_CALLED);
  const before = await countOverdue(database.db);
  await database.db.query(
    sql`update refunds set created_at = now() - interval '16 minutes' where id = ${id}`,
  );
  expect(await countOverdue(database.db)).toBe(before + 1);
});
