import { deriveCommandId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { scaled } from '@pixmesh/testkit/long-runs';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { expect, test } from 'vitest';

import type { OracleCommand } from '#test/oracle-books.ts';

import { auditBooks } from '#test/audit-books.sql.ts';
import { endIdOf } from './model-hold-commands.ts';
import { useRacingProcesses, watchSnapshots } from './racing-processes.ts';
import { readAccounts, readPix } from './read-books.sql.ts';

/** Refunds and MED returns of one Pix, all at once through several processes (target L10). */
const RACES = scaled(20, 1_500);
/** Made until each way to win or lose has come. */
const RACES_MAX = 5 * RACES;
const WAYS = ['exceeds_received', 'insufficient_balance', 'released', 'returned', 'settled'];
const CONTENDERS = 32;
/** Beside the Pix, or less than it: part of it has been paid out. */
const OTHER_FUNDS = [0, 700, -400] as const;
const PIX = 1_000;
const TIMEOUT_MS = scaled(60_000, 900_000);
const SEED = testSeed();

const ledger = useRacingProcesses(SEED);
const { random, submit } = ledger;

test(
  `refunds and returns of a Pix never exceed it, to the cent (${RACES} races of ${CONTENDERS}, PIXMESH_TEST_SEED=${SEED})`,
  { timeout: TIMEOUT_MS },
  async () => {
    const seen = new Set<string>();
    const isRaced = (races: number) => races >= RACES && seen.size === WAYS.length;
    for (let races = 0; races < RACES_MAX && !isRaced(races); races += 1) await raceForPix(seen);
    expect(await auditBooks(ledger.db)).toEqual([]);
    // Each way to win or lose comes now and then: otherwise nothing was raced.
    expect([...seen].sort()).toEqual(WAYS);
  },
);

type Race = { accountId: string; subject: string; dispute: string; acquirer: Acquirer };
/** What the acquirer can still give back of the Pix: it arbitrates between refunds and the MED. */
type Acquirer = { left: number; refunded: number; returned: number };

async function raceForPix(seen: Set<string>): Promise<void> {
  const race: Race = {
    accountId: random.id(),
    subject: random.id(),
    dispute: random.id(),
    acquirer: { left: PIX, refunded: 0, returned: 0 },
  };
  const other = random.pick(OTHER_FUNDS);
  await fund(race, other);
  const isDisputed = random.chance(0.7);
  const contenders = Array.from({ length: CONTENDERS }, () =>
    random.chance(0.7) ? refund(race, seen) : medReturn(race, seen),
  );
  const watch = watchPix(race);
  await Promise.all([...contenders, ...(isDisputed ? [dispute(race, 'dispute.block')] : [])]);
  if (isDisputed) await dispute(race, 'dispute.unblock');
  expect(await watch.stop()).toEqual([]);
  await verifyMoney(race, other);
}

/** The Pix, and what else stands in the balance: another Pix, or a payout that has left. */
async function fund({ accountId, subject }: Race, other: number): Promise<void> {
  expect(await submit(aReceivedPixCredit(accountId, subject, PIX))).toBe('booked');
  if (other > 0)
    expect(await submit(aReceivedPixCredit(accountId, random.id(), other))).toBe('booked');
  if (other >= 0) return;
  const holdId = random.id();
  const hold = { accountId, holdId, resourceId: random.id() };
  const money = { pix: null, amount: -other, fee: 0 };
  expect(await submit({ ...hold, ...money, id: holdId, kind: 'hold.take' })).toBe('booked');
  expect(await submit({ ...hold, id: endIdOf(holdId, 'hold.settle'), kind: 'hold.settle' })).toBe(
    'booked',
  );
}

/** Hold first, then the acquirer, then the end that the acquirer has decided; every command is sent twice. */
async function refund(race: Race, seen: Set<string>): Promise<void> {
  const { accountId, subject, acquirer } = race;
  const amount = 1 + random.below(400);
  const holdId = random.id();
  const hold = { accountId, holdId, resourceId: random.id() };
  const take = { ...hold, id: holdId, kind: 'hold.take', pix: subject, amount, fee: 0 } as const;
  const word = await submitTwice(take);
  if (word !== 'booked') {
    seen.add(word);
    return;
  }
  const isDone = random.chance(0.7) && acquirer.left >= amount;
  if (isDone) {
    acquirer.left -= amount;
    acquirer.refunded += amount;
  }
  const kind = isDone ? 'hold.settle' : 'hold.release';
  expect(await submitTwice({ ...hold, kind, id: endIdOf(holdId, kind) })).toBe('booked');
  seen.add(isDone ? 'settled' : 'released');
}

async function medReturn(race: Race, seen: Set<string>): Promise<void> {
  const { accountId, subject, dispute: disputeId, acquirer } = race;
  const amount = 1 + random.below(300);
  if (amount > acquirer.left) return;
  acquirer.left -= amount;
  acquirer.returned += amount;
  const details = { id: random.id(), accountId, subject, amount };
  const from = random.pick(['blocked', 'blocked', 'available'] as const);
  const command: OracleCommand = random.chance(0.7)
    ? { ...details, kind: 'dispute.return', dispute: disputeId, from }
    : { ...details, kind: 'received_pix.return' };
  expect(await submitTwice(command)).toBe('booked');
  seen.add('returned');
}

async function dispute(race: Race, kind: 'dispute.block' | 'dispute.unblock'): Promise<void> {
  const { accountId, subject, dispute: id } = race;
  const details = { accountId, subject, dispute: id, amount: PIX };
  expect(await submitTwice({ ...details, id: random.id(), kind })).toBeOneOf(['booked', 'noted']);
}

/** Every cent is where the acquirer says, and nothing is held or blocked any more. */
async function verifyMoney({ accountId, subject, acquirer }: Race, other: number): Promise<void> {
  const { refunded, returned } = acquirer;
  expect(refunded + returned).toBeLessThanOrEqual(PIX);
  const row = (await readAccounts(ledger.db, [accountId])).get(accountId)!;
  const available = PIX + other - refunded - returned;
  expect(row).toMatchObject({
    available,
    held: 0,
    blocked: 0,
    acquirer_clearing: 0 - available,
    fees: 0,
    forced: Math.max(0, -available),
  });
  const pix = (await readPix(ledger.db, [accountId])).find(({ name }) => name === subject);
  if (refunded + returned > 0 || pix) {
    expect(pix).toMatchObject({ received: PIX, refunding: 0, refunded, returned, blocked: 0 });
  }
}

type Snapshot = { blocked: bigint; gone: bigint; ofPix: bigint; total: bigint };

/** In no snapshot has more gone back than was received, or is anything blocked that no Pix explains. */
function watchPix({ accountId, subject }: Race) {
  return watchSnapshots(async () => {
    const [row] = await ledger.db.query<Snapshot>(sql`
      select
        accounts.blocked, pix_debits.blocked as "ofPix", refunded + returned as gone,
        available + held + accounts.blocked + acquirer_clearing as total
      from accounts join pix_debits using (account_id)
      where account_id = ${accountId} and end_to_end_id = ${subject}`);
    if (!row) return [];
    const { gone, blocked, ofPix, total } = row;
    return [
      ...(gone > BigInt(PIX) ? [`${gone} of ${PIX} are gone`] : []),
      ...(blocked === ofPix ? [] : [`${blocked} blocked, ${ofPix} of the Pix`]),
      ...(total === 0n ? [] : [`money is missing in a snapshot: ${total}`]),
    ];
  });
}

function aReceivedPixCredit(accountId: string, subject: string, amount: number): OracleCommand {
  const id = deriveCommandId('received_pix', subject);
  return { id, accountId, subject, kind: 'received_pix.credit', amount, releaseAtMs: null };
}

/** The same command twice at once, through any two processes: one outcome. */
async function submitTwice(command: OracleCommand): Promise<string> {
  const [one, other] = await Promise.all([submit(command), submit(command)]);
  expect(one).toBe(other);
  return one;
}
