import { stopsPayouts } from '@pixmesh/contracts/internal/account-breaks';
import { deriveCommandId } from '@pixmesh/kernel/ids';
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
  const [row] = await sides.db.query<{ account_id: string }>(
    sql`select account_id from payouts where id = ${id}`,
  );
  const lines: string[] = [];
  for (const check of payoutsChecks(sides)) {
    const scope = { since: null, knownIds: [], signal: new AbortController().signal };
    for (const item of (await check.run(scope)).breaks) {
      if (item.id !== id) continue;
      const isOwn =
        stopsPayouts({ check: check.name, ...item }) && item.accountId === row?.account_id;
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
