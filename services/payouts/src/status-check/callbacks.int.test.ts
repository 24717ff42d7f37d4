import { newId, type PayoutId, toAcquirerId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { storeDuePayouts } from '#test/store-due-payouts.ts';

import { callbacksConsumer } from './callbacks.consumer.ts';

let database: TestDatabase;
let wakeUps = 0;
const logLines: string[] = [];
beforeAll(async () => {
  database = await createTestDatabase('payouts');
});
beforeEach(() => {
  wakeUps = 0;
  logLines.length = 0;
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

type Item = Record<string, unknown>;

/** Hands one item of a callback to the consumer, as the gateway publishes it. */
async function announce(item: Item, kind = 'sent'): Promise<void> {
  const consumer = callbacksConsumer({
    db: database.db,
    logger: createLogger('payouts', 'warn', { write: (line) => void logLines.push(line) }),
    wakeStatusCheck: () => {
      wakeUps += 1;
    },
  });
  await consumer.handlers[0]?.handle({
    event_id: newId(),
    type: 'acquirer.callback',
    version: 1,
    occurred_at: new Date().toISOString(),
    account_id: null,
    application_id: null,
    data: { kind, item },
  });
}

async function aSentPayout(endToEndId: string | null = null): Promise<PayoutId> {
  const [id] = await storeDuePayouts(database.db, 1);
  await database.db.query(sql`
    update payouts set send_at = null, end_to_end_id = ${endToEndId} where id = ${id}`);
  return id as PayoutId;
}

async function isCheckRequested(id: PayoutId): Promise<boolean> {
  const [row] = await database.db.query<{ requested: boolean }>(
    sql`select coalesce(check_at = '-infinity', false) as requested from payouts where id = ${id}`,
  );
  return row?.requested ?? false;
}

test.each(['sent', 'sent_return'])(
  'a callback (%s) that names an idEnvio asks for a look at once',
  async (kind) => {
    const id = await aSentPayout();
    const item = { endToEndId: 'E9', status: 'REALIZADO', gnExtras: { idEnvio: toAcquirerId(id) } };
    await announce(item, kind);
    expect(await isCheckRequested(id)).toBe(true);
    expect(wakeUps).toBe(1);
  },
);

test('one that names the end-to-end id alone does so too', async () => {
  const id = await aSentPayout('E12345678202611211200aaaaaaaaaaa');
  await announce({ endToEndId: 'E12345678202611211200aaaaaaaaaaa', tipo: 'SOLICITACAO' });
  expect(await isCheckRequested(id)).toBe(true);
  expect(wakeUps).toBe(1);
});

test('fifty at once ask for one check and change nothing else', async () => {
  const id = await aSentPayout();
  const item = { status: 'NAO_REALIZADO', gnExtras: { idEnvio: toAcquirerId(id) } };
  await Promise.all(Array.from({ length: 50 }, () => announce(item)));
  const [row] = await database.db.query(
    sql`select status, version, ending, contradiction from payouts where id = ${id}`,
  );
  expect(row).toEqual({ status: 'processing', version: 0, ending: null, contradiction: null });
});

test.each(['received', 'received_return', 'unknown'])(
  'what belongs to charges (%s) is left to them, whatever it names',
  async (kind) => {
    const id = await aSentPayout();
    await announce({ gnExtras: { idEnvio: toAcquirerId(id) } }, kind);
    expect(await isCheckRequested(id)).toBe(false);
    expect(logLines).toEqual([]);
  },
);

test.each<[string, Item]>([
  ['of somebody else', { endToEndId: 'E0', gnExtras: { idEnvio: toAcquirerId(newId()) } }],
  ['with an idEnvio that is none of ours', { gnExtras: { idEnvio: 'not-an-id' } }],
  ['that names nothing', {}],
  ['with broken names', { endToEndId: 7, gnExtras: 'x' }],
  ['with a broken idEnvio', { endToEndId: null, gnExtras: { idEnvio: { a: 1 } } }],
])('a callback %s is logged without its contents and does nothing', async (_name, item) => {
  await announce({ ...item, chave: 'ana@example.com' });
  expect(wakeUps).toBe(0);
  expect(logLines).toHaveLength(1);
  expect(logLines[0]).toContain('callback names no payout');
  expect(logLines[0]).not.toContain('ana@example.com');
});
