import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { countRows, findBreaks, readBalances } from '#testing/check-ledger.ts';
import {
  aCredit,
  again,
  anEndToEndId,
  aSuspense,
  type CreditWire,
  handle,
  type SuspendWire,
} from '#testing/received-pix-messages.ts';

const SEED = Number(process.env['FAST_CHECK_SEED'] ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env['FAST_CHECK_RUNS'] ?? 200);
/** Room for long runs and slow machines. */
const TIMEOUT_MS = 30_000 + RUNS * 500;
const STEPS_MAX = 60;
const ACCOUNTS = 4;
const PIX_PER_RUN = 12;

/** One message on the topic: which Pix it names and what it says of it. Few Pix, hence many repeats. */
type Step = {
  pix: number;
  says: 'credit' | 'delayed credit' | 'suspense';
  amount: number;
  /** Handled at the same time as the step before it. */
  joins: boolean;
};

const steps = fc.array(
  fc.record<Step>({
    pix: fc.nat({ max: PIX_PER_RUN - 1 }),
    says: fc.constantFrom('credit', 'delayed credit', 'suspense'),
    amount: fc.constantFrom(1, 100, 99_999),
    joins: fc.boolean(),
  }),
  { minLength: 1, maxLength: STEPS_MAX },
);

let database: Awaited<ReturnType<typeof createTestDatabase>>;

beforeAll(async () => {
  database = await createTestDatabase('ledger');
});
afterAll(() => database[Symbol.asyncDispose]());

test(
  `the books equal those of an oracle in memory, whatever comes (seed ${SEED})`,
  { timeout: TIMEOUT_MS },
  async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (run) => {
        const world = aWorld();
        const before = await countRows(database.db, 'journals');
        for (const group of groupsOf(run)) {
          const messages = group.map((step) => world.messageOf(step));
          const verdicts = await Promise.all(messages.map(deliver));
          world.oracle.observe(
            messages.map((message, index) => ({ message, verdict: verdicts[index]! })),
          );
        }
        for (const accountId of world.accounts) {
          const found = await readBalances(database.db, accountId);
          expect(found).toMatchObject(world.oracle.balancesOf(accountId));
        }
        expect((await countRows(database.db, 'journals')) - before).toBe(world.oracle.booked.size);
        expect(await publishedFor(world.accounts)).toEqual(
          [...world.oracle.booked.keys()].sort((a, b) => a.localeCompare(b)),
        );
      }),
      { seed: SEED, numRuns: RUNS },
    );
    expect(await findBreaks(database.db)).toEqual([]);
  },
);

type Message = CreditWire | SuspendWire;
type Verdict = 'accepted' | 'refused';

async function deliver(message: Message): Promise<Verdict> {
  try {
    await handle({ db: database.db, kickOutbox: () => undefined }, again(message));
    return 'accepted';
  } catch (error) {
    expect(error).toMatchObject({ code: 'MESSAGE_INVALID' });
    return 'refused';
  }
}

/** The books as a person would keep them: the first word on a Pix counts, for ever. */
function anOracle() {
  const booked = new Map<string, Message>();
  return { booked, observe, balancesOf };

  /** Of messages that were handled at the same time any may be first, but only one content of each Pix. */
  function observe(handled: readonly { message: Message; verdict: Verdict }[]): void {
    for (const { message, verdict } of handled) {
      if (verdict === 'accepted' && !booked.has(message.data.command_id)) {
        booked.set(message.data.command_id, message);
      }
    }
    for (const { message, verdict } of handled) {
      const first = booked.get(message.data.command_id);
      expect(first, 'the first of a Pix is never refused').toBeDefined();
      expect(verdict).toBe(contentOf(message) === contentOf(first!) ? 'accepted' : 'refused');
    }
  }

  function balancesOf(accountId: string): Record<string, number> {
    const balances = { available: 0, pending: 0, suspense: 0 };
    for (const { account_id: owner, type, data } of booked.values()) {
      if (owner !== accountId) continue;
      if (type === 'received_pix.suspend') balances.suspense += data.amount;
      else balances[data.release_at === null ? 'available' : 'pending'] += data.amount;
    }
    const { suspense, ...always } = balances;
    const clearing = 0 - balances.available - balances.pending - suspense;
    if (!hasAny(accountId)) return {};
    return { ...always, ...(suspense > 0 ? { suspense } : {}), acquirer_clearing: clearing };
  }

  function hasAny(accountId: string): boolean {
    return [...booked.values()].some((message) => message.account_id === accountId);
  }
}

function contentOf({ type, account_id, data }: Message): string {
  return JSON.stringify({ type, account_id, data });
}

/** Accounts and Pix of one run; each Pix belongs to one account, as it does at the acquirer. */
function aWorld() {
  const accounts = Array.from({ length: ACCOUNTS }, () => newId());
  const releaseAt = new Date(Date.now() + 86_400_000);
  const pix = Array.from({ length: PIX_PER_RUN }, (_, index) => ({
    accountId: accounts[index % ACCOUNTS]!,
    endToEndId: anEndToEndId(),
    chargeId: newId(),
  }));
  return { accounts, oracle: anOracle(), messageOf };

  function messageOf(step: Step): Message {
    const named = { ...pix[step.pix]!, amount: step.amount };
    if (step.says === 'suspense') return aSuspense(named);
    return aCredit({ ...named, releaseAt: step.says === 'credit' ? null : releaseAt });
  }
}

function groupsOf(run: readonly Step[]): Step[][] {
  const groups: Step[][] = [];
  for (const step of run) {
    const last = groups.at(-1);
    if (step.joins && last) last.push(step);
    else groups.push([step]);
  }
  return groups;
}

/** Command ids of the outcomes that stand in `events` for these accounts, each as often as it stands there. */
async function publishedFor(accounts: readonly string[]): Promise<string[]> {
  const rows = await database.db.query<{ id: string }>(sql`
    select message -> 'data' ->> 'command_id' as id
    from events where key = any(${accounts}::text[])`);
  return rows.map((row) => row.id).sort((a, b) => a.localeCompare(b));
}
