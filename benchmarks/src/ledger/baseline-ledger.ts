import { randomUUID } from 'node:crypto';

import pg from 'pg';

import { keepBusy } from '../closed-loop.ts';
import { assertBooks, withClient } from '../durable-server.ts';
import { BASELINE_ACCOUNTS, BASELINE_AUDIT, BASELINE_SCHEMA } from './baseline-schema.ts';
import { type ReserveFigure, reserveFigure } from './ledger-figures.ts';

const CLIENTS = 16;
const FUNDS_CENTS = 1_000_000_000_000n;
const AMOUNT_CENTS = 1_000;
const FEE_CENTS = 50;
/** Sessions that plan on empty tables keep plans for empty tables. */
const PREFILL_SECONDS = 3;

type Account = { source: string; target: string };

export type BaselineLedger = AsyncDisposable & {
  /** Keeps all clients busy for `seconds`, on these of its accounts. */
  run(seconds: number, spread: 'uniform' | 'hot'): Promise<ReserveFigure>;
};

/** The per-call ledger in a schema of its own, filled and analyzed before anything is measured. */
export async function startBaselineLedger(
  url: string,
  accountCount: number,
): Promise<BaselineLedger> {
  const accounts = await withClient(url, async (client) => {
    await client.query(BASELINE_SCHEMA);
    const { rows } = await client.query<Account>(BASELINE_ACCOUNTS, [accountCount, FUNDS_CENTS]);
    return rows;
  });
  const prefill = openClients(url);
  await drive(prefill, accounts, PREFILL_SECONDS);
  await prefill.end();
  await withClient(url, (client) => client.query('vacuum analyze'));
  const pool = openClients(url);
  return {
    run: async (seconds, spread) => {
      const figure = await drive(pool, spread === 'hot' ? accounts.slice(0, 1) : accounts, seconds);
      await assertBooks(url, BASELINE_AUDIT);
      return figure;
    },
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

function openClients(url: string): pg.Pool {
  const options = '-c search_path=baseline_ledger';
  return new pg.Pool({ connectionString: url, max: CLIENTS, options });
}

async function drive(
  pool: pg.Pool,
  accounts: readonly Account[],
  seconds: number,
): Promise<ReserveFigure> {
  const took = await keepBusy({ workers: CLIENTS, seconds }, async () => {
    const account = accounts[Math.floor(Math.random() * accounts.length)];
    if (account === undefined) throw new Error('no accounts');
    const outcome = await takeHold(pool, account);
    if (outcome !== 'held') throw new Error(`the baseline answered ${outcome}`);
  });
  return reserveFigure(took.count, took.seconds);
}

async function takeHold(pool: pg.Pool, account: Account): Promise<string | undefined> {
  const { rows } = await pool.query<{ outcome: string }>({
    name: 'take_hold',
    text: 'select baseline_ledger.take_hold($1, $2, $3, $4, $5, $6) as outcome',
    values: [randomUUID(), randomUUID(), account.source, account.target, AMOUNT_CENTS, FEE_CENTS],
  });
  return rows[0]?.outcome;
}
