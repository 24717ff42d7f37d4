import type { Database } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';

import type { LedgerCommand } from '#commands/ledger-command.ts';
import type { Outcome } from '#commands/outcome.ts';
import type { BatchState } from '#decisions/batch-state.ts';
import { type BatchDecision, decideBatch } from '#decisions/decide-batch.ts';
import type { executeBatch } from '#engine/execute-batch.ts';
import { lockBatch } from '#engine/lock-batch.sql.ts';
import type { PixDebits } from '#decisions/pix-debits.ts';
import { writeBatch } from '#engine/write-batch.sql.ts';

/** A ledger with one thing wrong. The model must find it, or finding nothing in the real one proves nothing. */
export type PlantedBug = {
  name: string;
  /** Rules of the database that would refuse the bug; taken away, so that it is the model that finds it. */
  without?: readonly Statement[];
  /** Wrong between the service and its database. */
  tamper?: (db: Database) => Database;
  /** Wrong in how batches are worked on. */
  runBatch?: typeof executeBatch;
};

type Row = { source: string; id: string; available: bigint };

const NO_KEY_OF_COMMANDS = sql`alter table ledger.journals drop constraint journals_pkey`;
const NO_NUMBERS_OF_JOURNALS = sql`alter table ledger.journals drop constraint journals_version`;
const NO_NUMBERS_OF_ENTRIES = sql`alter table ledger.entries drop constraint entries_pkey`;
const NO_BALANCE_OF_JOURNALS = sql`drop trigger entries_balanced on ledger.entries`;
const NO_FLOORS = sql`
  alter table ledger.accounts
    drop constraint accounts_available_floor,
    drop constraint accounts_parts_floor`;

const NO_BOUNDS_OF_PIX = sql`
  alter table ledger.pix_debits drop constraint pix_debits_received`;

/** The same steps without a mistake: what the model finds in it would be the model's own mistake. */
export const HONEST_BATCH = mutant(null);

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'decided commands are not found: a repeat is booked again',
    without: [NO_KEY_OF_COMMANDS],
    tamper: changingState((rows) => rows.filter(({ source }) => source !== 'command')),
  },
  {
    name: 'balances are carried over from one batch to the next',
    without: [NO_NUMBERS_OF_JOURNALS, NO_NUMBERS_OF_ENTRIES, NO_FLOORS],
    tamper: carryingBalancesOver,
  },
  {
    name: 'holds are not looked up when they end',
    tamper: changingState((rows) => rows.filter(({ source }) => source !== 'hold')),
  },
  {
    name: 'the guard sees more money than there is',
    without: [NO_FLOORS],
    runBatch: mutant((state) => {
      for (const account of state.accounts.values()) account.balances.available += 1_000n;
    }),
  },
  {
    name: 'an acknowledged batch is lost',
    tamper: losingCommits,
  },
  {
    name: 'a release keeps the fee',
    runBatch: mutant(null, ({ writes }) => {
      for (const [hold, release] of releasesOf(writes)) moveBack(writes, release, hold.fee);
    }),
  },
  {
    name: 'a settled fee goes to the acquirer',
    runBatch: mutant(null, ({ writes }) => {
      for (const entry of writes.entries.filter(({ kind }) => kind === 'fees')) {
        entry.kind = 'acquirer_tariffs';
      }
    }),
  },
  {
    name: 'half of a journal is not written',
    without: [NO_BALANCE_OF_JOURNALS],
    runBatch: mutant(null, ({ writes }) => void writes.entries.pop()),
  },
  {
    name: 'one refused command fails the others of its batch',
    runBatch: mutant(null, (decision) => {
      if (!decision.outcomes.some(isRefused)) return;
      decision.outcomes = decision.outcomes.map(() => UNWRITABLE);
      decision.writes.journals.length = 0;
    }),
  },
  {
    name: 'a refused hold is answered as taken',
    runBatch: mutant(null, (decision) => {
      decision.outcomes = decision.outcomes.map((outcome) =>
        isRefused(outcome) ? { ...outcome, code: 'booked' } : outcome,
      );
    }),
  },
  {
    name: 'commands of a batch are decided in another order',
    runBatch: async (db, commands) => (await HONEST_BATCH(db, commands.toReversed())).toReversed(),
  },
  {
    name: 'an outcome is not published',
    runBatch: mutant(null, ({ writes }) => void writes.events.pop()),
  },
  {
    name: 'an outcome is published twice',
    runBatch: mutant(null, ({ writes }) => void writes.events.push(...writes.events.slice(0, 1))),
  },
  {
    name: 'money in suspense has no item',
    runBatch: mutant(null, ({ writes }) => void writes.suspenseItems.pop()),
  },
  {
    name: 'a credit that was made available waits on',
    runBatch: mutant(null, ({ writes }) => void writes.releasesDone.splice(0)),
  },
  {
    name: 'more is refunded than was received',
    without: [NO_BOUNDS_OF_PIX],
    runBatch: mutant((state) => {
      changePix(state, (pix) => ({ ...pix, received: pix.received + 1_000n }));
    }),
  },
  {
    name: 'a refund of a disputed Pix leaves its block alone',
    runBatch: mutant((state) => {
      changePix(state, (pix) => ({ ...pix, blocked: 0n }));
    }),
  },
  {
    name: 'a refund that failed leaves the block although the dispute is open',
    runBatch: mutant((state) => {
      changePix(state, (pix) => ({ ...pix, shortfall: 0n }));
    }),
  },
  {
    name: 'a return under the MED is not counted',
    runBatch: mutant(null, ({ writes }) => {
      for (const [key, pix] of writes.pix) writes.pix.set(key, { ...pix, returned: 0n });
    }),
  },
  {
    name: 'the hold of a refund does not record what came out of the block',
    runBatch: mutant(null, ({ writes }) => {
      for (const hold of writes.holds.values()) if (hold.refund) hold.refund.fromBlock = 0n;
    }),
  },
  {
    name: 'an item of suspense is resolved twice',
    runBatch: mutant((state) => {
      for (const item of state.suspenseItems.values()) item.isResolved = false;
    }),
  },
  {
    name: 'an item of suspense stays open',
    runBatch: mutant(null, ({ writes }) => writes.itemsChanged.clear()),
  },
  {
    name: 'an item of suspense that went back in part is whole',
    runBatch: mutant(null, ({ writes }) => {
      for (const [id, { resolvedAtMs }] of writes.itemsChanged) {
        if (resolvedAtMs === null) writes.itemsChanged.delete(id);
      }
    }),
  },
  {
    name: 'a debit by the MED is not recorded as forced',
    without: [NO_FLOORS],
    runBatch: mutant(null, ({ writes }) => {
      for (const [id, account] of writes.accounts) {
        writes.accounts.set(id, { ...account, forcedDebit: 0n });
      }
    }),
  },
];

const UNWRITABLE: Outcome = { kind: 'rejected', reason: 'unwritable', message: 'planted' };

/** The steps of a batch as they are, with a place for a mistake before and after the decision. */
function mutant(
  before: ((state: BatchState) => void) | null,
  after?: (decision: BatchDecision) => void,
): typeof executeBatch {
  return async ({ db }, commands: readonly LedgerCommand[]) =>
    await db.transaction(async (tx) => {
      const state = await lockBatch(tx, commands);
      before?.(state);
      const decision = decideBatch(state, commands);
      after?.(decision);
      await writeBatch(tx, decision.writes);
      return decision.outcomes;
    });
}

function isRefused(outcome: Outcome): outcome is Extract<Outcome, { kind: 'decided' }> {
  return outcome.kind === 'decided' && outcome.code === 'insufficient_balance';
}

type Writes = BatchDecision['writes'];

function changePix({ pix }: BatchState, change: (pix: PixDebits) => PixDebits): void {
  for (const [key, one] of pix) (pix as Map<string, PixDebits>).set(key, change(one));
}

function releasesOf(writes: Writes) {
  return writes.journals
    .filter(({ command, code }) => command.kind === 'hold.release' && code === 'booked')
    .flatMap((journal) => {
      const hold = 'holdId' in journal.command ? writes.holds.get(journal.command.holdId) : null;
      return hold ? ([[hold, journal]] as const) : [];
    });
}

/** Takes `amount` out of a booked release, on both of its sides, so that it still nets to zero. */
function moveBack(
  writes: Writes,
  journal: { command: LedgerCommand; version: bigint | null },
  amount: bigint,
): void {
  for (const entry of writes.entries) {
    if (entry.accountId !== journal.command.accountId || entry.version !== journal.version)
      continue;
    entry.amount += entry.amount > 0n ? -amount : amount;
  }
}

function changingState(change: (rows: Row[]) => Row[]) {
  return (db: Database): Database => onLock(db, change);
}

/** Calls `change` on what the first statement of each batch has read. */
function onLock(db: Database, change: (rows: Row[]) => Row[]): Database {
  return {
    ...db,
    transaction: (work) =>
      db.transaction((tx) =>
        work({
          ...tx,
          query: async <Found extends object>(statement: Statement) => {
            const rows = await tx.query<Found>(statement);
            if (statement.name !== 'ledger_lock_batch') return rows;
            return change(rows as unknown as Row[]) as unknown as Found[];
          },
        }),
      ),
  };
}

function carryingBalancesOver(db: Database): Database {
  const seen = new Map<string, Row>();
  return onLock(db, (rows) =>
    rows.map((row) => {
      if (row.source !== 'account') return row;
      const first = seen.get(row.id) ?? row;
      seen.set(row.id, first);
      return first;
    }),
  );
}

const LOST = 'rolled back';
const LOSS_RATE = 0.1;

/** Says that a transaction was committed, and rolls it back. */
function losingCommits(db: Database): Database {
  return { ...db, transaction };

  async function transaction<T>(work: Parameters<typeof db.transaction<T>>[0]): Promise<T> {
    const done: T[] = [];
    try {
      return await db.transaction(async (tx) => {
        const result = await work(tx);
        done.push(result);
        if (Math.random() < LOSS_RATE) throw new Error(LOST);
        return result;
      });
    } catch (error) {
      const result = done.at(-1);
      if (result === undefined || (error as Error).message !== LOST) throw error;
      return result;
    }
  }
}
