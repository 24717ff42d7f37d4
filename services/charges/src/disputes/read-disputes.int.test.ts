import type { AcquirerDispute, UnreadableItem } from '@pixmesh/acquirer/acquirer';
import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { findAnyCharge } from '#charge/charges.sql.ts';
import { anInfraction } from '#test/a-dispute.ts';
import { RECEIVER } from '#test/charges-under-test.ts';
import { storeCharge, type StoredCharge } from '#test/store-charge.ts';

import { leaseRun, type DisputeListRun } from './dispute-list.sql.ts';
import { findByInfraction } from './disputes.sql.ts';
import { intendDefense, storeDefense } from './store-defense.ts';
import { readDisputes, type ReadDisputesDeps } from './read-disputes.ts';

type DefenseOutcome = Awaited<ReturnType<ReadDisputesDeps['acquirer']['submitDefense']>>;

const HOUR_MS = 3_600_000;
const AMOUNT = 12_345n;

let database: TestDatabase;
let logLines: string[];
/** Defenses that were sent, and what the acquirer answers to them. */
let sent: { disputeId: string; text: string }[];
let answer: DefenseOutcome;
/** Whether the acquirer says what has returned of a Pix. */
let areReturnsRead: boolean;
/** Pix that were asked for because nobody here knows them. */
let noticed: string[];
let charge: StoredCharge;
let endToEndId: string;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
beforeEach(async () => {
  logLines = [];
  sent = [];
  answer = { kind: 'accepted' };
  areReturnsRead = true;
  noticed = [];
  endToEndId = `E${newId()}`;
  charge = await storeCharge(database.db, { status: 'paid', acceptedE2e: endToEndId });
  await database.db.query(sql`
    insert into received_pix (end_to_end_id, charge_id, account_id, amount, paid_at, disposition)
    values (${endToEndId}, ${charge.id}, ${charge.accountId}, ${AMOUNT}, now(), 'credit')`);
  await database.db.query(sql`update dispute_list set listed_until = now() - interval '1 hour'`);
});
afterAll(() => database[Symbol.asyncDispose]());

function hoursAgo(hours: number): Date {
  return new Date(Date.now() - hours * HOUR_MS);
}

function aListed(changes: Partial<AcquirerDispute> = {}): AcquirerDispute {
  return anInfraction({
    endToEndId,
    openedAt: hoursAgo(1),
    deadlineAt: hoursAgo(-48),
    ...changes,
  });
}

function theDeps(items: AcquirerDispute[], unreadable: UnreadableItem[] = []): ReadDisputesDeps {
  return {
    db: database.db,
    receiver: RECEIVER,
    logger: createLogger('charges', 'warn', { write: (line) => void logLines.push(line) }),
    acquirer: {
      listDisputes: async () =>
        await Promise.resolve({ kind: 'page', items, unreadable, hasMore: false }),
      submitDefense: async (defense) => {
        sent.push(defense);
        return await Promise.resolve(answer);
      },
    },
    intervalMs: 0,
    leaseMs: 60_000,
    returnWindowMs: 100 * HOUR_MS,
    wakeOutbox: () => undefined,
    checkReturns: () => Promise.resolve(areReturnsRead),
    noticePix: async (pix) => await Promise.resolve(void noticed.push(pix)),
  };
}

async function lease(): Promise<DisputeListRun> {
  await database.db.query(sql`update dispute_list set check_at = now() - interval '1 second'`);
  const [run] = await leaseRun(database.db, theDeps([]));
  if (!run) throw new Error('somebody else reads');
  return run;
}

async function read(items: AcquirerDispute[], unreadable: UnreadableItem[] = []): Promise<void> {
  await readDisputes(theDeps(items, unreadable), await lease());
}

async function stored(infractionId: string) {
  const dispute = await findByInfraction(database.db, infractionId);
  if (dispute === null) throw new Error('not stored');
  return dispute;
}

async function minutesBehind(): Promise<number> {
  const [row] = await database.db.query<{ minutes: number }>(sql`
    select round(extract(epoch from now() - listed_until) / 60)::int as minutes from dispute_list`);
  return row?.minutes ?? -1;
}

async function causes(): Promise<string[]> {
  const rows = await database.db.query<{ cause: string }>(
    sql`select cause from charge_history where charge_id = ${charge.id} order by version`,
  );
  return rows.map(({ cause }) => cause);
}

test('an item that cannot be read hides no other, and keeps the window open until it can', async () => {
  const listed = aListed();
  await read([listed], [{ position: 0, paths: ['valor'], endToEndId: 'E-other' }]);
  expect(await stored(listed.id)).toMatchObject({ status: 'open' });
  expect(await minutesBehind()).toBe(60);
  expect(JSON.parse(logLines[0] ?? '')).toMatchObject({
    unreadable: 1,
    items: [{ position: 0, paths: ['valor'] }],
  });
  expect(logLines.join()).not.toContain('E-other');
  await read([listed]);
  expect(await minutesBehind()).toBe(0);
});

test('an unknown Pix is asked for during a day after its dispute was opened', async () => {
  const unexplained = [1, 25].map((hours) =>
    aListed({ endToEndId: `E${hours}`, openedAt: hoursAgo(hours) }),
  );
  await read(unexplained);
  expect(noticed).toEqual(['E1']);
});

test('disputes of many Pix are applied beside each other, those of one Pix in their order', async () => {
  const others = await Promise.all(Array.from({ length: 20 }, aDisputedPix));
  const inWork = new Set<string>();
  let mostAtOnce = 0;
  const readings: string[] = [];
  const deps: ReadDisputesDeps = {
    ...theDeps(others.flat()),
    checkReturns: async (_, pix) => {
      inWork.add(pix);
      readings.push(pix);
      mostAtOnce = Math.max(mostAtOnce, inWork.size);
      await eventually(() => expect(inWork.size === 8 || readings.length > 16).toBe(true));
      inWork.delete(pix);
      return true;
    },
  };
  await readDisputes(deps, await lease());
  expect(mostAtOnce).toBe(8);
  for (const [first, second] of others) {
    expect(await stored(first?.id ?? '')).toMatchObject({ status: 'lost' });
    expect(await stored(second?.id ?? '')).toMatchObject({ status: 'open' });
  }
});

test('everything that may have changed is read now and then: an infraction may be listed long after its opening', async () => {
  const daysBack = async (unreadable: UnreadableItem[] = []): Promise<number> => {
    await database.db.query(
      sql`update dispute_list set check_at = now() - interval '1 second', lease_until = null`,
    );
    const [run] = await leaseRun(database.db, theDeps([]));
    const from = run?.from.getTime() ?? 0;
    await readDisputes(theDeps([], unreadable), run!);
    return Math.round((Date.now() - from) / (24 * HOUR_MS));
  };
  await database.db.query(
    sql`update disputes set status = 'lost', resolved_at = now() where status <> 'lost'`,
  );
  await database.db.query(sql`update dispute_list set whole_at = null`);
  expect(await daysBack()).toBe(120);
  expect(await daysBack()).toBe(2);
  await database.db.query(sql`update dispute_list set whole_at = now() - interval '11 minutes'`);
  // An item that cannot be read is for the next time, not for every time.
  expect(await daysBack([{ position: 0, paths: ['valor'], endToEndId: null }])).toBe(120);
  expect(await daysBack()).toBe(2);
});

test('a dispute is lost once its returns can be read, and after an hour without them', async () => {
  areReturnsRead = false;
  const listed = aListed({ openedAt: hoursAgo(2) });
  await read([listed]);
  const lost = { ...listed, status: 'accepted' } as const;
  await read([{ ...lost, decidedAt: hoursAgo(0.5) }]);
  expect(await stored(listed.id)).toMatchObject({ status: 'open', acquirerStatus: 'open' });
  expect(await minutesBehind()).toBe(120);
  areReturnsRead = true;
  await read([{ ...lost, decidedAt: hoursAgo(0.5) }]);
  expect(await stored(listed.id)).toMatchObject({ status: 'lost' });
  expect(await minutesBehind()).toBe(0);

  areReturnsRead = false;
  const [decidedLongAgo] = await aDisputedPix();
  await read([{ ...decidedLongAgo!, status: 'open' }]);
  await read([{ ...decidedLongAgo!, decidedAt: hoursAgo(1.1) }]);
  expect(await stored(decidedLongAgo!.id)).toMatchObject({ status: 'lost' });
});

test('a reader that has lost its lease moves nothing and asks for no more pages', async () => {
  let pages = 0;
  const deps: ReadDisputesDeps = theDeps([]);
  deps.acquirer.listDisputes = async () => {
    pages += 1;
    await database.db.query(sql`update dispute_list set lease_token = gen_random_uuid()`);
    return { kind: 'page', items: [], unreadable: [], hasMore: true };
  };
  await database.db.query(
    sql`update dispute_list set check_at = now() - interval '1 second', lease_until = null`,
  );
  const [run] = await leaseRun(database.db, theDeps([]));
  await readDisputes(deps, run as DisputeListRun);
  expect(pages).toBe(1);
  expect(await minutesBehind()).toBe(60);
  await database.db.query(sql`update dispute_list set lease_until = null`);
});

/** One that was lost and one that was opened behind it. */
async function aDisputedPix(): Promise<AcquirerDispute[]> {
  const pix = `E${newId()}`;
  const owner = await storeCharge(database.db, { status: 'paid', acceptedE2e: pix });
  await database.db.query(sql`
    insert into received_pix (end_to_end_id, charge_id, account_id, amount, paid_at, disposition)
    values (${pix}, ${owner.id}, ${owner.accountId}, ${AMOUNT}, now(), 'credit')`);
  const of = (name: string) => ({ endToEndId: pix, id: `${name} ${pix}`.slice(0, 64) });
  return [
    aListed({
      ...of('lost'),
      status: 'accepted',
      openedAt: hoursAgo(200),
      decidedAt: hoursAgo(150),
    }),
    aListed({ ...of('open'), openedAt: hoursAgo(1) }),
  ];
}

describe('a defense whose answer was lost', () => {
  const TEXT = 'O produto foi entregue.';

  async function intend(listed: AcquirerDispute): Promise<void> {
    await read([listed]);
    const { id } = await stored(listed.id);
    expect(await intendDefense(database.db, id, TEXT)).toMatchObject({ isRepeat: false });
  }

  test('and that the list shows as received is stored with the time of its receipt', async () => {
    const listed = aListed();
    await intend(listed);
    const defenseReceivedAt = hoursAgo(0.5);
    await read([{ ...listed, status: 'under_review', defenseReceivedAt }]);
    expect(await stored(listed.id)).toMatchObject({
      status: 'under_review',
      defenseText: TEXT,
      defenseSentAt: defenseReceivedAt,
      intendedDefense: null,
    });
    expect(sent).toEqual([]);
    expect(await causes()).toEqual(['dispute_opened', 'dispute_under_review']);
  });

  test('and that was decided meanwhile is stored, and the dispute ends as decided', async () => {
    const listed = aListed();
    await intend(listed);
    const changes = { defenseReceivedAt: hoursAgo(0.5), decidedAt: hoursAgo(0.2) };
    await read([{ ...listed, status: 'rejected', ...changes }]);
    expect(await stored(listed.id)).toMatchObject({ status: 'won', defenseText: TEXT });
  });

  test('and that never arrived is sent again, once', async () => {
    const listed = aListed();
    await intend(listed);
    await read([listed]);
    await read([listed]);
    expect(sent).toEqual([{ disputeId: listed.id, text: TEXT }]);
    expect(await stored(listed.id)).toMatchObject({
      status: 'under_review',
      defenseText: TEXT,
      intendedDefense: null,
    });
  });

  test('is left alone by a run that began before it', async () => {
    const listed = aListed();
    await intend(listed);
    const run = await lease();
    await readDisputes(theDeps([listed]), { ...run, startedAt: hoursAgo(0.01) });
    expect(sent).toEqual([]);
    expect(await stored(listed.id)).toMatchObject({ intendedDefense: { text: TEXT } });
  });

  test('is sent until the acquirer answers; a repeat meanwhile sends the words that were stored', async () => {
    const listed = aListed();
    await intend(listed);
    answer = { kind: 'unknown', cause: 'timeout' };
    await read([listed]);
    await read([listed]);
    const { id } = await stored(listed.id);
    expect(await intendDefense(database.db, id, 'Outras palavras.')).toMatchObject({
      isRepeat: true,
      intended: { text: TEXT },
    });
    answer = { kind: 'accepted' };
    await read([listed]);
    expect(sent.map(({ text }) => text)).toEqual([TEXT, TEXT, TEXT]);
    expect(await stored(listed.id)).toMatchObject({ defenseText: TEXT });
    expect(await intendDefense(database.db, id, TEXT)).toMatchObject({ kind: 'sent_before' });
  });

  test.each<[string, Partial<AcquirerDispute>, DefenseOutcome]>([
    ['is refused', {}, { kind: 'refused', code: 'RequisicaoInvalida', message: 'x' }],
    [
      'finds it decided',
      { status: 'rejected', decidedAt: new Date() },
      { kind: 'unknown', cause: 'x' },
    ],
  ])('is given up where the list shows that it never arrived and %s', async (_, shown, reply) => {
    const listed = aListed();
    await intend(listed);
    answer = reply;
    await read([{ ...listed, ...shown }]);
    expect(await stored(listed.id)).toMatchObject({ defenseText: null, intendedDefense: null });
    expect(logLines.join()).toContain('the acquirer never received it');
  });

  test('waits while it is under review without a receipt', async () => {
    const listed = aListed();
    await intend(listed);
    await read([{ ...listed, status: 'under_review' }]);
    expect(await stored(listed.id)).toMatchObject({ intendedDefense: { text: TEXT } });
    expect(sent).toEqual([]);
  });
});

test('an accepted defense of a dispute that has ended meanwhile is stored and puts nothing under review', async () => {
  const listed = aListed();
  await read([listed]);
  await read([{ ...listed, status: 'rejected', decidedAt: hoursAgo(0.1) }]);
  const { id } = await stored(listed.id);
  const before = await causes();
  await storeDefense(theDeps([]), id, { text: 'Entregue.', sentAt: null });
  expect(await stored(listed.id)).toMatchObject({ status: 'won', defenseText: 'Entregue.' });
  expect(await causes()).toEqual(before);
  expect(before).not.toContain('dispute_under_review');
});

describe('returns under the MED of a Pix with two disputes', () => {
  async function book(id: string, settledAt: Date, cents: bigint): Promise<void> {
    await database.db.query(sql`
      insert into med_return_times (end_to_end_id, return_id, settled_at) values (${endToEndId}, ${id}, ${settledAt})`);
    await database.db.query(sql`
      insert into pix_returns (end_to_end_id, return_id, charge_id, amount, nature, disposition)
      values (${endToEndId}, ${id}, ${charge.id}, ${cents}, 'MED_FRAUDE', 'med')`);
  }

  const idOf = (name: string) => `${name} ${endToEndId}`.slice(0, 64);
  const first = () =>
    aListed({
      id: idOf('first'),
      status: 'accepted',
      openedAt: hoursAgo(90),
      decidedAt: hoursAgo(60),
      amountCents: toCents(5_000n),
    });
  const second = () =>
    aListed({
      id: idOf('second'),
      status: 'accepted',
      openedAt: hoursAgo(40),
      decidedAt: hoursAgo(10),
      amountCents: toCents(5_000n),
    });
  const firstReturn = () => book('r1', hoursAgo(60), 3_000n);
  const secondReturn = () => book('r2', hoursAgo(10), 4_000n);

  test.each<[string, (() => Promise<void>)[]]>([
    [
      'as they happened',
      [firstReturn, () => read([first()]), secondReturn, () => read([second()])],
    ],
    ['all returns first', [secondReturn, firstReturn, () => read([first(), second()])]],
    ['the second dispute first', [secondReturn, () => read([second()]), firstReturn]],
  ])('belong to the dispute that they followed, read %s', async (_, steps) => {
    await database.db.query(
      sql`update charges set status = 'charged_back' where id = ${charge.id}`,
    );
    for (const step of steps) await step();
    await read([first(), second()]);
    expect((await stored(idOf('first'))).returnedAmount).toBe(3_000n);
    expect((await stored(idOf('second'))).returnedAmount).toBe(4_000n);
    expect(await findAnyCharge(database.db, charge.id)).toMatchObject({ status: 'charged_back' });
  });
});
