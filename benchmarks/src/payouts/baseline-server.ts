import { randomUUID } from 'node:crypto';

import fastify from 'fastify';
import pg from 'pg';

import { answerCalls, type BaselineCalls } from '../child-calls.ts';

/**
 * The least that could take a payout: one process, no gateway, no authentication, no idempotency, no trace, nobody
 * who sends it. Three commits like the mesh's: the intent, the hold under the account's row lock, the payout with
 * its event.
 */
const ACCOUNTS = 1_000_000_000_000;
const FEE_CENTS = 50;

const db = new pg.Pool({ connectionString: process.env['BASELINE_DATABASE_URL'], max: 20 });
const accountId = randomUUID();

await db.query(`
  create schema if not exists baseline;
  create table if not exists baseline.accounts (
    id uuid primary key, available bigint not null check (available >= 0), held bigint not null);
  create table if not exists baseline.journals (
    id uuid primary key, account_id uuid not null, resource_id uuid not null, kind text not null);
  create table if not exists baseline.entries (
    journal_id uuid not null, account text not null, amount bigint not null);
  create table if not exists baseline.payouts (
    id uuid primary key, account_id uuid not null, amount bigint not null, fee bigint not null,
    pix_key text not null, status text not null);
  create table if not exists baseline.payout_events (
    event_id uuid primary key, type text not null, message jsonb not null);
`);
await db.query('insert into baseline.accounts values ($1, $2, 0)', [accountId, ACCOUNTS]);

const app = fastify();
app.post<{ Body: { amount: number; pix_key: string; pix_key_type: string } }>(
  '/payouts',
  async (request, reply) => {
    const id = randomUUID();
    const { amount, pix_key } = request.body;
    await db.query({
      name: 'intent',
      text: `insert into baseline.payouts values ($1, $2, $3, $4, $5, 'intent')`,
      values: [id, accountId, amount, FEE_CENTS, pix_key],
    });
    if (!(await hold(id, amount + FEE_CENTS))) return reply.code(400).send({});
    const payout = { id, object: 'payout', status: 'pending', amount, fee: FEE_CENTS, pix_key };
    await db.query({
      name: 'commit',
      text: `
        with moved as (update baseline.payouts set status = 'pending' where id = $1 returning id)
        insert into baseline.payout_events (event_id, type, message)
        select $2, 'payment.pix.created', $3 from moved`,
      values: [id, randomUUID(), JSON.stringify(payout)],
    });
    return reply.code(201).send(payout);
  },
);
await app.listen({ host: '127.0.0.1', port: 0 });
answerCalls<BaselineCalls>({ url: () => app.listeningOrigin });

async function hold(resourceId: string, cents: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'hold',
    text: `
      with moved as (
        update baseline.accounts set available = available - $2, held = held + $2
        where id = $1 and available >= $2
        returning id
      ), journal as (
        insert into baseline.journals (id, account_id, resource_id, kind)
        select $3, id, $4, 'hold' from moved
        returning id
      )
      insert into baseline.entries (journal_id, account, amount)
      select journal.id, side.account, side.amount
      from journal, (values ('available', -$2::bigint), ('held', $2::bigint)) as side (account, amount)`,
    values: [accountId, cents, randomUUID(), resourceId],
  });
  return rowCount === 2;
}
