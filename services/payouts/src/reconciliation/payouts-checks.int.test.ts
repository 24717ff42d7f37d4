import { deriveCommandId, newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { sql, type Statement } from '@pixmesh/postgres/sql';
import type { FoundBreak } from '@pixmesh/reconciliation/check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { AMOUNT, type ComparedSides, FEE, startComparedSides } from '#test/compared-sides.ts';

import { payoutsChecks } from './payouts-checks.ts';

const SHORTLY_AGO = new Date(Date.now() - 60_000);
const IN_AN_HOUR = new Date(Date.now() + 3_600_000);

let sides: ComparedSides;
let completed: Awaited<ReturnType<ComparedSides['aCompletedPayout']>>;

beforeAll(async () => {
  sides = await startComparedSides();
  await sides.aReceivedPix(100_000n);
  completed = await sides.aCompletedPayout();
  await sides.aReleasedPayout();
  await sides.anOpenPayout('pending');
});

afterEach(async () => {
  sides.ledger.state.isAway = false;
  await sides.simulator.control('DELETE', '/control/faults');
});

afterAll(() => sides[Symbol.asyncDispose]());

test.each([
  ['full', null],
  ['incremental', SHORTLY_AGO],
])('sides that agree have no break in a run that is %s', async (_name, since) => {
  const outcomes = await runAll(since);
  expect(outcomes.map(({ name, breaks }) => ({ name, breaks }))).toEqual([
    { name: 'payout', breaks: [] },
    { name: 'hold', breaks: [] },
    { name: 'settlement', breaks: [] },
    { name: 'acquirer_balance', breaks: [] },
    { name: 'delivery', breaks: [] },
    { name: 'outbox', breaks: [] },
    { name: 'dead_letter', breaks: [] },
  ]);
  expect(outcomes.filter((one) => one.compared === 0)).toMatchObject([{ name: 'dead_letter' }]);
});

describe('payout', () => {
  test.each<[string, Statement, Statement, string]>([
    ['another amount', sql`amount = 1400`, sql`amount = 1500`, 'amount 1400 1500 (100)'],
    [
      'another end-to-end id',
      sql`end_to_end_id = 'E-other'`,
      sql`end_to_end_id = null`,
      'end_to_end_id E E-other (1500)',
    ],
    [
      'no end-to-end id although it is completed',
      sql`end_to_end_id = null`,
      sql`end_to_end_id = null`,
      'end_to_end_id E null (1500)',
    ],
    [
      'failed although the money left',
      sql`status = 'failed', failure_reason = 'x'`,
      sql`status = 'completed', failure_reason = null`,
      'state completed failed (1500)',
    ],
    [
      'canceled although the money left',
      sql`status = 'canceled'`,
      sql`status = 'completed'`,
      'state completed canceled (1500)',
    ],
  ])('reports a payout with %s', async (_name, change, back, expected) => {
    const { id, e2e } = completed;
    await sides.admin.query(sql`update payouts.payouts set ${change} where id = ${id}`);
    const { payout } = await findAll();
    await sides.admin.query(sql`update payouts.payouts set ${back} where id = ${id}`);
    await sides.admin.query(
      sql`update payouts.payouts set end_to_end_id = ${e2e} where id = ${id}`,
    );
    expect(payout?.map((line) => line.replaceAll(e2e, 'E'))).toEqual([`${id} ${expected}`]);
  });

  test('reports a payout that the acquirer does not know', async () => {
    const { id, holdId } = await sides.aReleasedPayout();
    await sides.admin.query(
      sql`update payouts.payouts set status = 'completed', end_to_end_id = 'E-never' where id = ${id}`,
    );
    expect((await findAll())['payout']).toEqual([`${id} missing_left completed null (1500)`]);
    await sides.admin.query(
      sql`update payouts.payouts set status = 'canceled', end_to_end_id = null where id = ${id}`,
    );
    expect(holdId).toBeDefined();
  });

  test('reports a return that is not recorded, and one of another amount', async () => {
    const { id, e2e } = await sides.aCompletedPayout();
    const { return_id, key } = await aReturn(e2e);
    const before = await findAll();
    await sides.db.query(sql`
      insert into payout_returns (end_to_end_id, return_id, payout_id, account_id, amount)
      values (${e2e}, ${return_id}, ${id}, ${newId()}, 150)`);
    sides.ledger.book(deriveCommandId('payout_return', key), { id, amount: 200n, clearing: -200n });
    const recorded = await findAll(SHORTLY_AGO, [key]);
    await sides.admin.query(sql`update payouts.payout_returns set amount = 200`);
    expect(before).toEqual({ payout: [`${key} missing_right 200 null (200)`] });
    expect(recorded).toEqual({ payout: [`${key} amount 200 150 (-50)`] });
  });

  test('goes on reporting a return while the payout does not know its end-to-end id', async () => {
    const { id, e2e } = await sides.aCompletedPayout();
    const { return_id, key } = await aReturn(e2e);
    const lines: (string[] | undefined)[] = [];
    for (const known of [null, 'E-other', e2e]) {
      await sides.db.query(sql`update payouts set end_to_end_id = ${known} where id = ${id}`);
      lines.push((await findAll(IN_AN_HOUR, [key]))['payout']);
    }
    await sides.db.query(sql`
      insert into payout_returns (end_to_end_id, return_id, payout_id, account_id, amount)
      values (${e2e}, ${return_id}, ${id}, ${newId()}, 200)`);
    sides.ledger.book(deriveCommandId('payout_return', key), { id, amount: 200n, clearing: -200n });
    const missing = `${key} missing_right 200 null (200)`;
    expect(lines).toEqual([
      [`${id} end_to_end_id ${e2e} null (1500)`, missing].toSorted(),
      [`${id} end_to_end_id ${e2e} E-other (1500)`, missing].toSorted(),
      [missing],
    ]);
    expect((await findAll(IN_AN_HOUR, [key]))['payout']).toBeUndefined();
  });

  test('reports a payout that is still on its way although it has ended, however old it is', async () => {
    const { id } = await sides.aCompletedPayout();
    const processing = sql`update payouts.payouts set status = 'processing' where id = ${id}`;
    await sides.admin.query(processing);
    const { payout } = await findAll(IN_AN_HOUR);
    await sides.admin.query(sql`update payouts.payouts set status = 'completed' where id = ${id}`);
    expect(payout).toEqual([`${id} state completed processing (1500)`]);
  });

  test('goes on reporting a contradiction, however old the payout is, also when the acquirer takes it back', async () => {
    const { id } = await sides.aCompletedPayout();
    await sides.simulator.control('POST', `/control/sends/${id}/contradict`, {
      status: 'NAO_REALIZADO',
    });
    await sides.db.query(
      sql`update payouts set contradiction = 'failed_after_completed' where id = ${id}`,
    );
    await withBooks(AMOUNT, async () => {
      const line = [`${id} state failed completed (1500)`];
      expect((await findAll())['payout']).toEqual(line);
      expect((await findAll(IN_AN_HOUR))['payout']).toEqual(line);
      await sides.simulator.control('POST', `/control/sends/${id}/contradict`, {
        status: 'REALIZADO',
      });
    });
    const takenBack = [`${id} state completed failed_after_completed (1500)`];
    expect((await findAll())['payout']).toEqual(takenBack);
    expect((await findAll(IN_AN_HOUR))['payout']).toEqual(takenBack);
    await sides.db.query(sql`update payouts set contradiction = null where id = ${id}`);
    expect((await findAll(IN_AN_HOUR))['payout']).toBeUndefined();
  });
});

describe('hold', () => {
  test('reports a hold without payout, and one whose payout has ended or never began', async () => {
    const { id, holdId } = await sides.anOpenPayout();
    const orphan = {
      ...sides.ledger.holds.get(holdId)!,
      hold_id: newId(),
      resource_id: newId(),
    };
    sides.ledger.holds.set(orphan.hold_id, orphan);
    const found: (string[] | undefined)[] = [];
    for (const status of ['canceled', 'intent', 'pending']) {
      await sides.admin.query(sql`update payouts.payouts set status = ${status} where id = ${id}`);
      found.push((await findAll())['hold']);
    }
    sides.ledger.holds.delete(orphan.hold_id);
    const alone = `${orphan.hold_id} missing_right pending or processing ${orphan.resource_id} (1550)`;
    expect(found).toEqual(
      [
        [alone, `${id} state pending or processing canceled (1550)`],
        [alone, `${id} state pending or processing intent (1550)`],
        [alone],
      ].map((lines) => lines.toSorted()),
    );
  });

  test.each(['pending', 'processing'] as const)(
    'reports a %s payout without its hold',
    async (status) => {
      const { id, holdId } = await sides.anOpenPayout(status);
      const hold = sides.ledger.holds.get(holdId)!;
      sides.ledger.holds.delete(holdId);
      expect((await findAll())['hold']).toEqual([
        `${id} missing_left an open hold ${status} (1550)`,
      ]);
      sides.ledger.holds.set(holdId, hold);
    },
  );

  test('reports a hold of another amount', async () => {
    const { id, holdId } = await sides.anOpenPayout();
    const hold = sides.ledger.holds.get(holdId)!;
    sides.ledger.holds.set(holdId, { ...hold, fee: 0n });
    expect((await findAll())['hold']).toEqual([`${id} amount 1500 + 50 1500 + 0 (-50)`]);
    sides.ledger.holds.set(holdId, hold);
  });
});

describe('settlement', () => {
  test('reports an end that is missing, is the wrong one, or moved another amount', async () => {
    const { id, holdId } = completed;
    const [settle, release] = [
      deriveCommandId('hold_settle', holdId),
      deriveCommandId('hold_release', holdId),
    ];
    const journal = sides.ledger.journals.get(settle)!;
    sides.ledger.journals.set(release, journal);
    const both = await findAll();
    sides.ledger.journals.delete(settle);
    const wrong = await findAll();
    sides.ledger.journals.delete(release);
    sides.ledger.journals.set(settle, { ...journal, amount: AMOUNT });
    const short = await findAll();
    sides.ledger.journals.set(settle, journal);
    expect(both['settlement']).toEqual([`${id} state completed release (1550)`]);
    expect(wrong['settlement']).toEqual([
      `${id} missing_right settle null (1550)`,
      `${id} state completed release (1550)`,
    ]);
    expect(short['settlement']).toEqual([`${id} amount 1550 of ${id} 1500 of ${id} (-50)`]);
  });

  test('reports a canceled payout whose money did not come back', async () => {
    const { id, holdId } = await sides.aReleasedPayout();
    const release = deriveCommandId('hold_release', holdId);
    const journal = sides.ledger.journals.get(release)!;
    sides.ledger.journals.delete(release);
    expect((await findAll())['settlement']).toEqual([`${id} missing_right release null (1550)`]);
    sides.ledger.journals.set(release, journal);
  });
});

describe('acquirer_balance', () => {
  test('reports money that nothing explains, of either sign', async () => {
    const found: (string[] | undefined)[] = [];
    for (const amount of [25, -25]) {
      await sides.simulator.control('PUT', '/control/balance-adjustment', { amount });
      found.push(
        (await findAll())['acquirer_balance']?.map((line) => line.replace(/-?\d+ -?\d+/, 'x')),
      );
    }
    await sides.simulator.control('PUT', '/control/balance-adjustment', { amount: 0 });
    expect(found).toEqual([['acquirer amount x (25)'], ['acquirer amount x (-25)']]);
  });

  test('counts what has moved at the acquirer and is not booked yet', async () => {
    const received = await sides.aReceivedPix(4_000n);
    const credit = sides.ledger.journals.get(received)!;
    sides.ledger.journals.delete(received);
    sides.ledger.state.clearing += 4_000n;
    const { id, holdId } = await sides.aCompletedPayout();
    const settle = deriveCommandId('hold_settle', holdId);
    const journal = sides.ledger.journals.get(settle)!;
    sides.ledger.journals.delete(settle);
    sides.ledger.state.clearing -= AMOUNT;
    const { acquirer_balance, settlement } = await findAll();
    sides.ledger.journals.set(settle, journal).set(received, credit);
    sides.ledger.state.clearing += AMOUNT - 4_000n;
    expect(acquirer_balance).toBeUndefined();
    expect(settlement).toEqual([`${id} missing_right settle null (${AMOUNT + FEE})`]);
  });
});

test('events that are missing are missing by the payout', async () => {
  const { id } = completed;
  await sides.admin.query(sql`update payouts.payouts set event_sequence = 3 where id = ${id}`);
  expect(await findAll()).toEqual({ outbox: [`${id} missing_right 3 2 (null)`] });
  await sides.admin.query(sql`update payouts.payouts set event_sequence = 2 where id = ${id}`);
});

test('a side that cannot be read fails the check, which never counts as clean', async () => {
  sides.ledger.state.isAway = true;
  const checks = payoutsChecks(sides);
  const named = (name: string) => checks.find((check) => check.name === name)!;
  for (const name of ['hold', 'settlement', 'acquirer_balance']) {
    await expect(runOne(named(name))).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  }
  sides.ledger.state.isAway = false;
  for (const operation of ['listSent', 'balance', 'listReceived']) {
    await sides.simulator.control('PUT', '/control/faults', {
      seed: 1,
      rules: [{ operation, fault: 'error_before', status: 500 }],
    });
    const name = operation === 'listSent' ? 'payout' : 'acquirer_balance';
    await expect(runOne(named(name))).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  }
});

test('nothing is left of all these breaks once the sides agree again', async () => {
  expect(await findAll(null)).toEqual({});
  expect(await findAll(SHORTLY_AGO)).toEqual({});
});

/** The acquirer never forgets a send: these come last, and leave their breaks behind. */
describe('a send that no payout explains', () => {
  test('reports a send that no payout explains in each run, until one does', async () => {
    const idEnvio = toAcquirerId(newId());
    const foreign = await sides.simulator.control('POST', '/control/sends', {
      amount: 700,
      id_envio: idEnvio,
      requested_at: new Date(Date.now() - 3 * 86_400_000).toISOString(),
    });
    await withBooks(-700n, async () => {
      expect((await findAll(null))['payout']).toEqual([
        `${idEnvio} missing_right null settled (700)`,
      ]);
      // Ordered long before the watermark: the run checks it because it was known.
      expect((await findAll(SHORTLY_AGO))['payout']).toBeUndefined();
      expect((await findAll(SHORTLY_AGO, [idEnvio]))['payout']).toHaveLength(1);
    });
    expect(foreign).toMatchObject({ id_envio: idEnvio });
  });

  test('reports a send without an idEnvio by its end-to-end id', async () => {
    const foreign = (await sides.simulator.control('POST', '/control/sends', { amount: 300 })) as {
      end_to_end_id: string;
    };
    await withBooks(-300n, async () => {
      const line = [`${foreign.end_to_end_id} missing_right null settled (300)`];
      expect((await findAll())['payout']).toEqual(line);
      expect((await findAll(IN_AN_HOUR, [foreign.end_to_end_id]))['payout']).toEqual(line);
    });
  });
});

async function aReturn(e2e: string): Promise<{ return_id: string; key: string }> {
  const answer = await sides.simulator.control('POST', `/control/pix/${e2e}/returns`, {
    amount: 200,
  });
  const { return_id } = answer as { return_id: string };
  return { return_id, key: `${e2e}:${return_id}` };
}

/** While the books follow a movement at the acquirer that the test is not about. */
async function withBooks(off: bigint, work: () => Promise<void>): Promise<void> {
  sides.ledger.state.clearing -= off;
  try {
    await work();
  } finally {
    sides.ledger.state.clearing += off;
  }
}

/** Breaks by check, each in one line; checks without any are left out. */
async function findAll(
  since: Date | null = SHORTLY_AGO,
  knownIds: string[] = [],
): Promise<Record<string, string[]>> {
  const outcomes = await runAll(since, knownIds);
  return Object.fromEntries(
    outcomes
      .filter(({ breaks }) => breaks.length > 0)
      .map(({ name, breaks }) => [name, breaks.map(describeBreak).toSorted()]),
  );
}

function describeBreak({ kind, id, expected, found, amountCents }: FoundBreak): string {
  return `${id} ${kind} ${expected ?? null} ${found ?? null} (${amountCents ?? null})`;
}

async function runAll(since: Date | null, knownIds: string[] = []) {
  const outcomes = [];
  for (const check of payoutsChecks(sides)) {
    outcomes.push({ name: check.name, ...(await runOne(check, since, knownIds)) });
  }
  return outcomes;
}

function runOne(
  check: ReturnType<typeof payoutsChecks>[number],
  since: Date | null = SHORTLY_AGO,
  knownIds: string[] = [],
) {
  return check.run({ since, knownIds, signal: new AbortController().signal });
}
