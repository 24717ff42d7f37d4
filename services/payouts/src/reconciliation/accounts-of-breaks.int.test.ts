import { stopsPayouts } from '@pixmesh/contracts/internal/account-breaks';
import { suspenseResolveCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import type { JournalKind } from '@pixmesh/contracts/internal/journal-kinds';
import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import { deriveCommandId, newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { sql } from '@pixmesh/postgres/sql';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { payoutSuspendCommandId } from '#payouts/ledger-commands.ts';
import { AMOUNT, type ComparedSides, startComparedSides } from '#test/compared-sides.ts';

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
  const commandId = deriveCommandId('payout_return', `${e2e}:D-forged`);
  const journal = await book(id, { commandId, kind: 'credit_payout_return', amount: 200n });
  expect(await unexplained(commandId)).toEqual([accountId, accountId]);
  await sides.db.query(sql`
    insert into payout_returns (end_to_end_id, return_id, payout_id, account_id, amount)
    values (${e2e}, 'D-forged', ${id}, ${accountId}, 200)`);
  expect(await unexplained(commandId)).toEqual([]);
  // The acquirer may call an order otherwise than when its return was recorded.
  await sides.db.query(sql`update payouts set end_to_end_id = 'E-other' where id = ${id}`);
  expect(await unexplained(commandId)).toEqual([]);
  await sides.db.query(sql`update payouts set end_to_end_id = ${e2e} where id = ${id}`);
  sides.ledger.journals.set(commandId, { ...journal, amount: toCents(300n) });
  expect(await unexplained(commandId)).toEqual([accountId, accountId]);
  sides.ledger.journals.delete(commandId);
});

test('money set aside for a payout that is not contradicted so stops payouts', async () => {
  const { id } = await sides.aCompletedPayout();
  const accountId = await accountOf(id);
  const commandId = payoutSuspendCommandId({ id }, 'failed_after_completed');
  const journal = await book(id, { commandId, kind: 'suspend_payout', amount: AMOUNT });
  expect(await unexplained(commandId)).toEqual([accountId, accountId]);
  await contradict(id, 'failed_after_completed');
  expect(await unexplained(commandId)).toEqual([]);
  for (const wrong of [
    { amount: toCents(AMOUNT + 1n) },
    { kind: 'credit_payout_return' } as const,
  ]) {
    sides.ledger.journals.set(commandId, { ...journal, ...wrong });
    expect(await unexplained(commandId)).toEqual([accountId, accountId]);
  }
  const other = newId();
  sides.ledger.journals.set(commandId, { ...journal, account_id: other });
  expect(await unexplained(commandId)).toEqual([other, other]);
  sides.ledger.journals.delete(commandId);
});

test('money of a contradicted payout that no operator accepted, or not so, stops payouts', async () => {
  const { id } = await sides.aCompletedPayout();
  const accountId = await accountOf(id);
  await contradict(id, 'failed_after_completed');
  const itemId = payoutSuspendCommandId({ id }, 'failed_after_completed');
  const commandId = suspenseResolveCommandId(itemId);
  const journal = await book(id, { commandId, kind: 'resolve_suspense', amount: AMOUNT });
  expect(await unexplained(commandId)).toEqual([accountId, accountId]);
  await sides.db.query(sql`
    insert into suspense_resolutions (id, item_id, payout_id, account_id, amount, requested_by)
    values (${newId()}, ${itemId}, ${id}, ${accountId}, ${AMOUNT}, ${newId()})`);
  expect(await unexplained(commandId)).toEqual([]);
  sides.ledger.journals.set(commandId, { ...journal, amount: toCents(AMOUNT + 1n) });
  expect(await unexplained(commandId)).toEqual([accountId, accountId]);
  // What charges has in suspense names a charge, or nothing.
  for (const resource_id of [newId(), null]) {
    sides.ledger.journals.set(commandId, { ...journal, resource_id });
    expect(await unexplained(commandId)).toEqual([]);
  }
  sides.ledger.journals.delete(commandId);
});

/** Of the account of the payout. */
async function book(
  payoutId: string,
  { commandId, kind, amount }: { commandId: string; kind: JournalKind; amount: bigint },
): Promise<BookedJournal> {
  const journal = {
    command_id: commandId,
    account_id: await accountOf(payoutId),
    resource_id: payoutId,
    amount: toCents(amount),
    kind,
    created_at: new Date().toISOString(),
  };
  sides.ledger.journals.set(commandId, journal);
  return journal;
}

async function contradict(id: string, contradiction: string): Promise<void> {
  await sides.db.query(sql`update payouts set contradiction = ${contradiction} where id = ${id}`);
}

/** The accounts that a journal stops: as a full run finds it, and one that knows it from before. */
async function unexplained(commandId: string): Promise<(string | null | undefined)[]> {
  const check = payoutsChecks(sides).find(({ name }) => name === 'settlement')!;
  const stopped: (string | null | undefined)[] = [];
  for (const since of [null, new Date()]) {
    const signal = new AbortController().signal;
    const { breaks } = await check.run({ since, knownIds: [commandId], signal });
    const own = breaks.filter((one) => one.id === commandId);
    expect(own.every((one) => stopsPayouts({ check: 'settlement', ...one }))).toBe(true);
    stopped.push(...own.map(({ accountId }) => accountId));
  }
  return stopped;
}

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
