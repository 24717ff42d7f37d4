import assert from 'node:assert';

import { deadlineIn } from '@pixmesh/http/deadline';
import type { AccountId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { auditBooks } from '#test/audit-books.sql.ts';
import { countAllRows, readBalances } from '#test/read-ledger.ts';
import {
  receivedPixCredit,
  holdRelease,
  holdSettle,
  holdTake,
  holdVoid,
} from '#test/ledger-commands.ts';
import {
  aLedgerUnderTest,
  journalsOf,
  type LedgerUnderTest,
  losingCommits,
  queuedEvents,
} from '#test/ledger-under-test.ts';

import { BATCH_MAX, createLedgerEngine, QUEUE_MAX } from './ledger-engine.ts';
import { lockBatch } from './lock-batch.sql.ts';

let ledger: LedgerUnderTest;

beforeAll(async () => {
  ledger = await aLedgerUnderTest();
});
afterEach(async () => {
  assert.deepEqual(await auditBooks(ledger.db), []);
});
afterAll(() => ledger[Symbol.asyncDispose]());

/** The same database, counting its transactions, and its queries beside them. */
function counting() {
  const count = { transactions: 0, queries: 0 };
  const db: typeof ledger.db = {
    ...ledger.db,
    query: (statement) => {
      count.queries += 1;
      return ledger.db.query(statement);
    },
    transaction: (work) => {
      count.transactions += 1;
      return ledger.db.transaction(work);
    },
  };
  return { db, count };
}

describe('batches', () => {
  test('what is handed in together is written together', async () => {
    const { db, count } = counting();
    await using engine = createLedgerEngine({ db, wakeOutbox: () => undefined, writers: 1 });
    const commands = Array.from({ length: 150 }, () => receivedPixCredit({ amount: 1 }));
    const outcomes = await Promise.all(commands.map((command) => engine.submit(command)));
    expect(outcomes.every((outcome) => outcome.kind === 'decided')).toBe(true);
    expect(count.transactions).toBe(1);
  });

  test('a command that is alone does not wait for company', async () => {
    const { db, count } = counting();
    await using engine = createLedgerEngine({ db, wakeOutbox: () => undefined });
    for (let results = 0; results < 5; results += 1) await engine.submit(receivedPixCredit());
    expect(count.transactions).toBe(5);
  });

  test('none is larger than its limit, and none is lost', async () => {
    const { db, count } = counting();
    await using engine = createLedgerEngine({ db, wakeOutbox: () => undefined, writers: 1 });
    const accountId = newId<AccountId>();
    const commands = Array.from({ length: 1_000 }, () =>
      receivedPixCredit({ accountId, amount: 1 }),
    );
    await Promise.all(commands.map((command) => engine.submit(command)));
    expect(count.transactions).toBe(Math.ceil(1_000 / BATCH_MAX));
    expect(await readBalances(ledger.db, accountId)).toMatchObject({ available: 1_000 });
  });

  test.each([1, 2, 4])(
    'with %i writers one account is decided in the order of its commands',
    async (writers) => {
      const { db } = ledger;
      await using engine = createLedgerEngine({ db, wakeOutbox: () => undefined, writers });
      const accounts = Array.from({ length: 8 }, () => newId<AccountId>());
      const commands = Array.from({ length: 60 }, () =>
        accounts.map((accountId) => receivedPixCredit({ accountId, amount: 10 })),
      );
      await Promise.all(commands.flat().map((command) => engine.submit(command)));
      for (const [index, accountId] of accounts.entries()) {
        const journals = await journalsOf(ledger.db, accountId);
        expect(journals.map((journal) => journal.command_id)).toEqual(
          commands.map((round) => round[index]?.commandId),
        );
        const events = await queuedEvents(ledger.db, accountId);
        expect(events.map((event) => event.message.data.balance.available)).toEqual(
          commands.map((_, round) => (round + 1) * 10),
        );
      }
    },
  );

  test.each([0, 5, 1.5])('%d writers are a mistake of the caller', (writers) => {
    expect(() =>
      createLedgerEngine({ db: ledger.db, wakeOutbox: () => undefined, writers }),
    ).toThrow('1 to 4 writers');
  });
});

describe('once', () => {
  test('a command handed in many times at once is decided once and answered the same', async () => {
    const accountId = await ledger.fund(5_000);
    const hold = holdTake({ accountId, amount: 4_000 });
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => ledger.submit(hold)));
    expect(outcomes.filter(({ repeated }) => !repeated)).toHaveLength(1);
    expect(new Set(outcomes.map(({ code }) => code))).toEqual(new Set(['booked']));
    expect(await readBalances(ledger.db, accountId)).toMatchObject({
      available: 1_000,
      held: 4_000,
    });
  });

  test('a refusal is for ever, also when money has come since', async () => {
    const accountId = newId<AccountId>();
    const hold = holdTake({ accountId, amount: 500 });
    expect(await ledger.submit(hold)).toMatchObject({ code: 'insufficient_balance' });
    await ledger.submit(receivedPixCredit({ accountId, amount: 10_000 }));
    const rows = await countAllRows(ledger.db);
    expect(await ledger.submit(hold)).toMatchObject({
      code: 'insufficient_balance',
      repeated: true,
      hold: { state: 'refused' },
    });
    expect(await countAllRows(ledger.db)).toEqual(rows);
    expect(await ledger.submit(holdTake({ accountId, amount: 500 }))).toMatchObject({
      code: 'booked',
    });
  });

  test('the first outcome of a hold stays, whatever became of it', async () => {
    const accountId = await ledger.fund(5_000);
    const hold = holdTake({ accountId });
    await ledger.submit(hold);
    await ledger.submit(holdSettle(hold));
    expect(await ledger.submit(hold)).toMatchObject({
      code: 'booked',
      repeated: true,
      hold: { state: 'settled' },
    });
    expect(await ledger.submit(holdVoid(hold))).toMatchObject({ code: 'already_held' });
    expect(await ledger.submit(holdRelease(hold))).toMatchObject({ code: 'already_settled' });
  });

  test('a commit whose answer was lost is told as not known, and the repeat as it was', async () => {
    const accountId = await ledger.fund(5_000);
    const db = losingCommits(ledger.db, 1);
    await using engine = createLedgerEngine({ db, wakeOutbox: () => undefined });
    const hold = holdTake({ accountId, amount: 700 });
    await expect(engine.submit(hold)).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
      retriable: true,
    });
    expect(await engine.submit(hold)).toMatchObject({ code: 'booked', repeated: true });
    expect(await readBalances(ledger.db, accountId)).toMatchObject({ held: 700 });
  });
});

describe('an account whose row is locked', () => {
  const UNAVAILABLE = { code: 'DEPENDENCY_UNAVAILABLE', retriable: true };

  test('has to come again alone: all others are decided meanwhile', async () => {
    const { db } = ledger;
    await using engine = createLedgerEngine({ db, wakeOutbox: () => undefined, writers: 1 });
    const locked = receivedPixCredit({ accountId: await ledger.fund(1) });
    const others = Array.from({ length: 20 }, () => receivedPixCredit());
    await db.transaction(async (tx) => {
      await lockBatch(tx, [locked]);
      const submitted = engine.submit(locked).catch((error: unknown) => error);
      const outcomes = await Promise.all(others.map((command) => engine.submit(command)));
      expect(outcomes.every((outcome) => outcome.kind === 'decided')).toBe(true);
      expect(await submitted).toMatchObject(UNAVAILABLE);
    });
    expect(await engine.submit(locked)).toMatchObject({ code: 'booked', repeated: false });
  });

  test('is asked for again until the deadline, where there is one', async () => {
    const { db, count } = counting();
    await using engine = createLedgerEngine({ db, wakeOutbox: () => undefined, writers: 1 });
    const locked = receivedPixCredit({ accountId: await ledger.fund(1) });
    const late = holdTake({ accountId: locked.accountId, amount: 1 });
    let submitted: Promise<unknown> | undefined;
    await ledger.db.transaction(async (tx) => {
      await lockBatch(tx, [locked]);
      await expect(engine.submit(late, deadlineIn(1))).rejects.toMatchObject(UNAVAILABLE);
      const before = count.queries;
      submitted = engine.submit(locked, deadlineIn(60_000));
      await expect.poll(() => count.queries, { timeout: 10_000 }).toBe(before + 3);
    });
    expect(await submitted).toMatchObject({ code: 'booked', repeated: false });
  });

  test('takes along what waits of its own, so that nothing overtakes it, and of no other', async () => {
    const { db, count } = counting();
    await using engine = createLedgerEngine({ db, wakeOutbox: () => undefined, writers: 1 });
    const accountId = await ledger.fund(1);
    const [first, behind] = [receivedPixCredit({ accountId }), receivedPixCredit({ accountId })];
    let waiting: Promise<unknown[]> | undefined;
    await ledger.db.transaction(async (tx) => {
      await lockBatch(tx, [first]);
      const submitted = engine.submit(first);
      await expect.poll(() => count.transactions).toBe(1);
      waiting = Promise.all([
        engine.submit(behind).catch((error: unknown) => error),
        engine.submit(receivedPixCredit()),
      ]);
      // The row is free again as soon as the first is answered.
      await expect(submitted).rejects.toMatchObject(UNAVAILABLE);
    });
    expect(await waiting).toMatchObject([UNAVAILABLE, { code: 'booked' }]);
    await engine.submit(first);
    await engine.submit(behind);
    const journals = (await journalsOf(ledger.db, accountId)).slice(-2);
    expect(journals.map((journal) => journal.command_id)).toEqual([
      first.commandId,
      behind.commandId,
    ]);
  });
});

describe('a batch that could not be written', () => {
  test('takes what waits behind it along, so that nothing overtakes it', async () => {
    const accountId = await ledger.fund(5_000);
    const db = losingCommits(ledger.db, 1);
    await using engine = createLedgerEngine({ db, wakeOutbox: () => undefined, writers: 1 });
    const commands = Array.from({ length: 450 }, () => receivedPixCredit({ accountId, amount: 1 }));
    const results = await Promise.allSettled(commands.map((command) => engine.submit(command)));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['rejected']));
    await Promise.all(commands.map((command) => engine.submit(command)));
    const journals = (await journalsOf(ledger.db, accountId)).slice(-commands.length);
    expect(journals.map((journal) => journal.command_id)).toEqual(
      commands.map(({ commandId }) => commandId),
    );
  });

  test('blames no command for what the database alone is to blame for', async () => {
    const readOnly = Object.assign(new Error('read-only transaction'), { code: '25006' });
    const db = { ...ledger.db, transaction: () => Promise.reject(readOnly) };
    await using engine = createLedgerEngine({ db, wakeOutbox: () => undefined });
    await expect(engine.submit(receivedPixCredit())).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
      retriable: true,
      cause: readOnly,
    });
  });
});

describe('the relay', () => {
  test('is woken by what is published, and by nothing else', async () => {
    const accountId = await ledger.fund(5_000);
    ledger.woken.times = 0;
    const hold = holdTake({ accountId });
    await ledger.submit(hold);
    await ledger.submit(holdVoid(hold));
    expect(ledger.woken.times).toBe(0);
    await ledger.submit(holdSettle(hold));
    expect(ledger.woken.times).toBe(1);
    await ledger.submit(holdSettle(hold));
    expect(ledger.woken.times).toBe(1);
  });
});

describe('limits', () => {
  test('a full queue refuses more at once, and takes them when it has worked', async () => {
    const gate = Promise.withResolvers<void>();
    const db: typeof ledger.db = {
      ...ledger.db,
      transaction: async (work) => {
        await gate.promise;
        return await ledger.db.transaction(work);
      },
    };
    const engine = createLedgerEngine({ db, wakeOutbox: () => undefined, writers: 1 });
    const accountId = newId<AccountId>();
    const waiting = Array.from({ length: QUEUE_MAX }, () =>
      engine.submit(holdTake({ accountId })).then(({ kind }) => kind),
    );
    expect(engine.waiting()).toBe(QUEUE_MAX);
    await expect(engine.submit(receivedPixCredit())).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
      retriable: true,
    });
    gate.resolve();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['decided']));
    expect(engine.waiting()).toBe(0);
    expect(await engine.submit(receivedPixCredit())).toMatchObject({ code: 'booked' });
    await engine.stop();
  });

  test('a stop finishes what waits and takes nothing more', async () => {
    const engine = createLedgerEngine({ db: ledger.db, wakeOutbox: () => undefined });
    const handedIn = Array.from({ length: 20 }, () => engine.submit(receivedPixCredit()));
    await engine.stop();
    expect(await Promise.all(handedIn)).toHaveLength(20);
    await expect(engine.submit(receivedPixCredit())).rejects.toMatchObject({ retriable: true });
  });

  test('a batch that failed does not stop those behind it', async () => {
    let failures = 1;
    const db: typeof ledger.db = {
      ...ledger.db,
      transaction: (work) => {
        failures -= 1;
        if (failures >= 0) return Promise.reject(new Error('once'));
        return ledger.db.transaction(work);
      },
    };
    await using engine = createLedgerEngine({ db, wakeOutbox: () => undefined });
    const command = receivedPixCredit();
    await expect(engine.submit(command)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    expect(await engine.submit(command)).toMatchObject({ code: 'booked', repeated: false });
  });
});
