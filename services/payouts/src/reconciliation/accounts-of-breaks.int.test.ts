import { stopsPayouts } from '@pixmesh/contracts/internal/account-breaks';
import { deriveCommandId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { sql } from '@pixmesh/postgres/sql';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type ComparedSides, startComparedSides } from '#test/compared-sides.ts';

import { payoutsChecks } from './payouts-checks.ts';

let sides: ComparedSides;
beforeAll(async () => {
  sides = await startComparedSides();
});
afterAll(() => sides[Symbol.asyncDispose]());

/** The breaks of one payout, and whether each stops the payouts of its account. */
async function found(id: string): Promise<string[]> {
  const accountId = await accountOf(id);
  const lines: string[] = [];
  for (const check of payoutsChecks(sides)) {
    const scope = { since: null, knownIds: [], signal: new AbortController().signal };
    for (const item of (await check.run(scope)).breaks) {
      if (item.id !== id) continue;
      const isOwn = stopsPayouts({ check: check.name, ...item }) && item.accountId === accountId;
      lines.push(`${check.name} ${item.kind}${isOwn ? ' stops' : ''}`);
    }
  }
  return lines;
}

test('an open payout without its hold stops payouts, unless its end was ordered', async () => {
  const { id, holdId } = await sides.anOpenPayout('processing');
  const hold = sides.ledger.holds.get(holdId)!;
  sides.ledger.holds.delete(holdId);
  expect(await found(id)).toEqual(['hold missing_left stops']);
  await sides.db.query(sql`update payouts set ending = 'settle' where id = ${id}`);
  expect(await found(id)).toEqual(['hold missing_left']);
  await sides.db.query(sql`update payouts set ending = null where id = ${id}`);
  sides.ledger.holds.set(holdId, { ...hold, fee: 0n });
  expect(await found(id)).toEqual(['hold amount stops']);
  sides.ledger.holds.set(holdId, hold);
});

test('a hold that is still open although its payout has ended stops nothing', async () => {
  const { id } = await sides.anOpenPayout('pending');
  await sides.db.query(sql`update payouts set status = 'canceled' where id = ${id}`);
  expect(await found(id)).toEqual(['hold state', 'settlement missing_right']);
});

test('a completed payout that was not settled, was released, or settled otherwise stops payouts', async () => {
  const { id, holdId } = await sides.aCompletedPayout();
  const [settle, release] = ['hold_settle', 'hold_release'].map((kind) =>
    deriveCommandId(kind as 'hold_settle', holdId),
  ) as [string, string];
  const journal = sides.ledger.journals.get(settle)!;
  sides.ledger.journals.set(release, journal);
  expect(await found(id)).toEqual(['settlement state stops']);
  sides.ledger.journals.delete(release);
  sides.ledger.journals.delete(settle);
  expect(await found(id)).toEqual(['settlement missing_right stops']);
  sides.ledger.journals.set(settle, { ...journal, amount: 1n });
  expect(await found(id)).toEqual(['settlement amount stops']);
  sides.ledger.journals.set(settle, journal);
});

test('a credit of returned money that nobody recorded stops payouts, and heals when it is explained', async () => {
  const { id, e2e } = await sides.aCompletedPayout();
  const accountId = await accountOf(id);
  const command_id = deriveCommandId('payout_return', `${e2e}:D-forged`);
  const amount = toCents(200n);
  const at = { kind: 'credit_payout_return', created_at: new Date().toISOString() };
  const journal = { command_id, account_id: accountId, resource_id: id, amount, ...at };
  sides.ledger.journals.set(command_id, journal);
  const run = async () => {
    const check = payoutsChecks(sides).find(({ name }) => name === 'settlement')!;
    const scope = { knownIds: [command_id], signal: new AbortController().signal };
    const runs = [
      await check.run({ ...scope, since: null }),
      await check.run({ ...scope, since: new Date() }),
    ];
    return runs.map(({ breaks }) =>
      breaks.filter((one) => one.id === command_id).map((one) => [one.kind, one.id, one.accountId]),
    );
  };
  const found = [['missing_left', command_id, accountId]];
  expect(await run()).toEqual([found, found]);
  await sides.db.query(sql`
    insert into payout_returns (end_to_end_id, return_id, payout_id, account_id, amount)
    values (${e2e}, 'D-forged', ${id}, ${accountId}, 200)`);
  expect(await run()).toEqual([[], []]);
  // The acquirer may call an order otherwise than when its return was recorded.
  await sides.db.query(sql`update payouts set end_to_end_id = 'E-other' where id = ${id}`);
  expect(await run()).toEqual([[], []]);
  await sides.db.query(sql`update payouts set end_to_end_id = ${e2e} where id = ${id}`);
  sides.ledger.journals.set(command_id, { ...journal, amount: toCents(300n) });
  expect(await run()).toEqual([found, found]);
  sides.ledger.journals.delete(command_id);
});

async function accountOf(id: string): Promise<string> {
  const [row] = await sides.db.query<{ account_id: string }>(
    sql`select account_id from payouts where id = ${id}`,
  );
  return row?.account_id ?? '';
}

test('an order of another amount stops payouts; one that the acquirer contradicts does not', async () => {
  const { id, holdId } = await sides.aCompletedPayout();
  const journal = sides.ledger.journals.get(deriveCommandId('hold_settle', holdId))!;
  sides.ledger.journals.set(journal.command_id, journal);
  await sides.admin.query(sql`update payouts.payouts set amount = amount - 1 where id = ${id}`);
  expect(await found(id)).toContain('payout amount stops');
  await sides.admin.query(sql`
    update payouts.payouts set amount = amount + 1, status = 'failed', failure_reason = 'x' where id = ${id}`);
  expect(await found(id)).toContain('payout state');
});
