/**
 * Drives the engine for a benchmark: reads what to do as JSON from its input, answers figures as JSON. It is a process
 * of its own with the rights of the service, because nothing outside of a service may import its code.
 */
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';

import { type AccountId, type HoldId, newId } from '@pixmesh/kernel/ids';
import { AMOUNT_CENTS_MAX, toCents } from '@pixmesh/kernel/money';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { z } from 'zod';

import type { LedgerCommand, HoldTake } from '#commands/ledger-command.ts';
import type { BatchOutcome } from '#commands/outcome.ts';
import { executeBatch } from '#engine/execute-batch.ts';
import { BATCH_MAX, createLedgerEngine } from '#engine/ledger-engine.ts';

import { auditBooks } from '#test/audit-books.sql.ts';

const wakeOutbox = (): void => undefined;

const FUND_BATCH = 100;
const AMOUNT = toCents(1_000);
const FEE = toCents(50);

const accounts = z.array(z.uuid()).min(1);
const Input = z.discriminatedUnion('mode', [
  z.object({ mode: z.literal('fund'), url: z.string(), accounts }),
  z.object({
    mode: z.literal('batches'),
    url: z.string(),
    accounts,
    writers: z.int().min(1),
    seconds: z.number(),
  }),
  z.object({ mode: z.literal('light'), url: z.string(), accounts, seconds: z.number() }),
  z.object({ mode: z.literal('audit'), url: z.string() }),
]);
type Input = z.infer<typeof Input>;
type Batches = Extract<Input, { mode: 'batches' }>;
type Output = { commands: number; seconds: number; p50Ms: number; p99Ms: number };

const input = Input.parse(JSON.parse(await text(process.stdin)));
await using db = createPool({ url: input.url, applicationName: 'drive-engine' });
process.stdout.write(JSON.stringify(await drive(db, input)));

async function drive(db: Database, input: Input): Promise<Output> {
  switch (input.mode) {
    case 'fund':
      return await fund(db, input.accounts);
    case 'batches':
      return await writeBatches(db, input);
    case 'light':
      return await submitOneByOne(db, input);
    case 'audit':
      return await audit(db);
    default:
      throw new Error('unknown mode');
  }
}

/** As much as one Pix can carry: more holds than a benchmark takes. */
async function fund(db: Database, accountIds: readonly string[]): Promise<Output> {
  const credits = accountIds.map((accountId): LedgerCommand => {
    const pix = { commandId: randomUUID(), endToEndId: randomUUID(), chargeId: null };
    const owner = accountId as AccountId;
    const amount = toCents(AMOUNT_CENTS_MAX);
    return { kind: 'received_pix.credit', ...pix, accountId: owner, amount, releaseAt: null };
  });
  for (let at = 0; at < credits.length; at += FUND_BATCH) {
    const outcomes = await executeBatch(
      { db, wakeOutbox, lockedOwners: new Set() },
      credits.slice(at, at + FUND_BATCH),
    );
    outcomes.forEach((outcome) => assertBooked(outcome));
  }
  return { commands: credits.length, seconds: 0, p50Ms: 0, p99Ms: 0 };
}

/**
 * Batches by several writers, each waiting for its commit before it sends the next. As in the engine, an account has
 * one writer, so a single account keeps one of them busy.
 */
async function writeBatches(db: Database, input: Batches): Promise<Output> {
  const latencies: number[] = [];
  const startedMs = performance.now();
  const endMs = startedMs + input.seconds * 1000;
  const shares = Array.from({ length: input.writers }, (_, writer) =>
    input.accounts.filter((_account, index) => index % input.writers === writer),
  );
  await Promise.all(shares.filter((share) => share.length > 0).map((share) => writer(share)));
  const seconds = (performance.now() - startedMs) / 1000;
  return figuresOf(latencies, { commands: latencies.length * BATCH_MAX, seconds });

  async function writer(share: readonly string[]): Promise<void> {
    while (performance.now() < endMs) {
      const beganMs = performance.now();
      const commands = Array.from({ length: BATCH_MAX }, () => aHold(share));
      const outcomes = await executeBatch({ db, wakeOutbox, lockedOwners: new Set() }, commands);
      latencies.push(performance.now() - beganMs);
      outcomes.forEach((outcome) => assertBooked(outcome));
    }
  }
}

/** One command under way at a time, through the door that HTTP and topic use. */
async function submitOneByOne(
  db: Database,
  input: Extract<Input, { mode: 'light' }>,
): Promise<Output> {
  await using engine = createLedgerEngine({ db, wakeOutbox });
  const latencies: number[] = [];
  const startedMs = performance.now();
  while (performance.now() - startedMs < input.seconds * 1000) {
    const beganMs = performance.now();
    assertBooked(await engine.submit(aHold(input.accounts)));
    latencies.push(performance.now() - beganMs);
  }
  const seconds = (performance.now() - startedMs) / 1000;
  return figuresOf(latencies, { commands: latencies.length, seconds });
}

async function audit(db: Database): Promise<Output> {
  const breaks = await auditBooks(db);
  if (breaks.length > 0) throw new Error(`${breaks.length} breaks in the books: ${breaks[0]}`);
  return { commands: 0, seconds: 0, p50Ms: 0, p99Ms: 0 };
}

function aHold(accountIds: readonly string[]): HoldTake {
  // As the payouts service mints them; its own ids, UUIDv5 of a key, are random to an index.
  const holdId = newId<HoldId>();
  const accountId = accountIds[Math.floor(Math.random() * accountIds.length)] as AccountId;
  return {
    kind: 'hold.take',
    commandId: holdId,
    accountId,
    holdId,
    resourceId: newId(),
    holdKind: 'payout',
    endToEndId: null,
    amount: AMOUNT,
    fee: FEE,
  };
}

function assertBooked(outcome: BatchOutcome): void {
  if (outcome.kind !== 'decided' || outcome.code !== 'booked') {
    throw new Error(`a command was not booked: ${JSON.stringify(outcome.kind)}`);
  }
}

function figuresOf(
  latencies: number[],
  { commands, seconds }: { commands: number; seconds: number },
): Output {
  const sorted = latencies.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { commands, seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}
