import assert from 'node:assert';
import { setTimeout as delay } from 'node:timers/promises';

import { currentAccount } from '@pixmesh/fair-share/current-account';
import { createFairQueue } from '@pixmesh/fair-share/fair-queue';
import { anyFree } from '@pixmesh/fair-share/share-of-places';
import pg from 'pg';

import {
  databaseError,
  isConnectionLost,
  isOpenedTooLate,
  isRepeatable,
} from './database-error.ts';
import { createEitherPassword, type EitherPassword } from './either-password.ts';
import { countDatabaseError, observePool } from './observe-pool.ts';
import { collectForCommit } from './on-commit.ts';
import { repeat } from './repeat.ts';
import { render, type Statement } from './sql.ts';

/** Statements above these limits are bugs or accidents; they end with an error instead of waiting. */
const STATEMENT_TIMEOUT_MS = 10_000;
const LOCK_TIMEOUT_MS = 5_000;
/** For so long a process that stands still may hold up others; longer than a publication (`event-publisher.ts`). */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 12_000;
const CONNECTION_TIMEOUT_MS = 3_000;
/** Opening one costs a handshake, a process of the server and every plan anew. */
const CONNECTION_IDLE_MS = 120_000;
/** A server that answers nothing at all, not even that a statement ran too long, is away. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 2_000;
const POOL_SIZE_DEFAULT = 10;
/** Statements and transactions of one account that wait for a connection. */
const WAITING_MAX = 10_000;
/** Two transactions that met once shall not meet again at once. */
const REPEAT_DELAY_MS_MAX = 50;
/** Of whole transactions, after a deadlock or a serialization failure. */
const REPETITION = {
  triesMax: 3,
  mayRepeat: isRepeatable,
  pause: (tries: number) => delay(Math.random() * REPEAT_DELAY_MS_MAX * tries),
};

const INT8_OID = 20;

/** Rows come back as plain objects; the `.sql.ts` that owns the statement names their type. */
export type Queryable = {
  query<Row extends object>(statement: Statement): Promise<Row[]>;
};

/** A transaction in progress. SQL functions take it and never open one. */
export type Transaction = Queryable & { readonly inTransaction: true };

export type Database = Queryable &
  AsyncDisposable & {
    /** Runs `work` in one transaction, again from its start after a deadlock: it must touch nothing else. */
    transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
    /** Runs reads that all see the database as it was at the first of them. They may not write. */
    snapshot<T>(read: (db: Queryable) => Promise<T>): Promise<T>;
  };

type PoolOptions = {
  /** `other_password` among its parameters: see `either-password.ts`. */
  url: string;
  applicationName: string;
  /** Names it in metrics, where a process has more than one; otherwise `main`. */
  name?: string;
  max?: number;
  /**
   * Named statements are planned once per connection and never for their values: for statements with arrays, whose
   * estimates differ each time and would have them planned again and again, at more than their execution costs.
   */
  plansOnce?: boolean;
  /** How long a statement waits for a row; less where each carries the work of many accounts. */
  lockTimeoutMs?: number;
};

/**
 * A plan that was made while a table was empty is kept while it grows: it must not be one that reads the whole table.
 */
const PLANNED_ONCE = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off';

/**
 * A pool for one service's role, whose connections are handed out in equal turns by account. `bigint` columns come back
 * as bigint; errors that mean "the database is away" become `DEPENDENCY_UNAVAILABLE`.
 */
export function createPool(options: PoolOptions): Database {
  const { applicationName, name = 'main', max = POOL_SIZE_DEFAULT } = options;
  const { lockTimeoutMs = LOCK_TIMEOUT_MS } = options;
  const either = createEitherPassword(options.url);
  const pool = new pg.Pool({
    Client: clientOf(either),
    application_name: applicationName,
    max,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    idleTimeoutMillis: CONNECTION_IDLE_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    // Our statements read few rows; compiling one takes longer than any of them, and a wrong estimate asks for it.
    options: options.plansOnce ? `-c jit=off ${PLANNED_ONCE}` : '-c jit=off',
    types: { getTypeParser: typeParser },
  });
  // A connection that breaks while idle is replaced at the next use; without a listener it ends the process.
  pool.on('error', () => undefined);
  observePool(name, { pool, max });
  const turns = createFairQueue({
    name: `postgres ${name}`,
    places: max,
    share: anyFree,
    waitingMax: WAITING_MAX,
    waitMsMax: CONNECTION_TIMEOUT_MS,
  });
  const inTurn: InTurn = async (work) => {
    try {
      return await turns.run(currentAccount(), () => onOpened(() => either.orOther(work)));
    } catch (error) {
      throw databaseError(error);
    }
  };
  const transact = <T>(begin: string, work: (tx: Transaction) => Promise<T>) =>
    repeat(() => inTurn(() => transactOnce(pool, begin, work)), REPETITION);
  return {
    query: (statement) => inTurn(() => run(pool, statement)),
    transaction: (work) => transact('begin', work),
    snapshot: (read) => transact('begin isolation level repeatable read read only', read),
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

/** Each connection is opened by the URL of its own moment. */
function clientOf(either: EitherPassword): typeof pg.Client {
  return class extends pg.Client {
    constructor(settings?: pg.ClientConfig) {
      super({ ...settings, connectionString: either.url() });
    }
  };
}

type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Does it again where its connection was not open in time: nothing of it has happened. A handshake takes many turns of
 * the event loop, each of them long in a process that has just started, and by now another connection may be free.
 */
async function onOpened<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isOpenedTooLate(error)) throw error;
    return await work();
  }
}

async function transactOnce<T>(
  pool: pg.Pool,
  begin: string,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    countDatabaseError(error);
    throw databaseError(error);
  });
  let broken: Error | undefined;
  client.on('error', recordBroken);
  try {
    await client.query(begin);
    const tx: Transaction = {
      inTransaction: true,
      query: (statement) => run(client, statement),
    };
    const committed = collectForCommit(tx);
    const result = await work(tx);
    const { command } = await client.query('commit');
    // The server answers so, and with no error, where a statement had failed and its error was caught.
    assert(command === 'COMMIT', 'rolled back, because a statement of it has failed');
    committed();
    return result;
  } catch (error) {
    const failure = databaseError(error);
    // A connection that may still wait for an answer is given up, not asked again; its end rolls back.
    if (isConnectionLost(failure)) broken = failure;
    else await client.query('rollback').catch(recordBroken);
    throw failure;
  } finally {
    client.off('error', recordBroken);
    client.release(broken);
  }

  function recordBroken(error: Error): void {
    broken = error;
  }
}

async function run<Row extends object>(
  client: pg.Pool | pg.PoolClient,
  statement: Statement,
): Promise<Row[]> {
  try {
    const result = await client.query<Row>(render(statement));
    return result.rows;
  } catch (error) {
    countDatabaseError(error);
    throw databaseError(error);
  }
}

function typeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === INT8_OID) return BigInt;
  return pg.types.getTypeParser(oid, format) as (value: string) => unknown;
}
