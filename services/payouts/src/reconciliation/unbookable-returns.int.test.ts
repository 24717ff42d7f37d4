import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type ComparedSides, startComparedSides } from '#test/compared-sides.ts';

import { payoutCheck } from './payout-check.ts';

let sides: ComparedSides;
beforeAll(async () => {
  sides = await startComparedSides();
});
afterAll(() => sides[Symbol.asyncDispose]());

/** What a run tells of returns, and whether it requests a check of the payout. */
async function run(id: string) {
  const scope = { since: null, knownIds: [], signal: new AbortController().signal };
  const { breaks } = await payoutCheck(sides).run(scope);
  const requested = await sides.db.query(
    sql`update payouts set check_at = null where id = ${id} and check_at is not null returning id`,
  );
  return {
    returns: breaks.filter((one) => one.id.includes(':')).map(({ kind, id: key }) => [kind, key]),
    isRequested: requested.length > 0,
  };
}

test('a return that a check would refuse is told by each run, and no check of it is requested', async () => {
  const { id, e2e } = await sides.aCompletedPayout();
  const answer = await sides.simulator.control('POST', `/control/pix/${e2e}/returns`, {
    amount: 200,
  });
  const missing = ['missing_right', `${e2e}:${(answer as { return_id: string }).return_id}`];
  expect(await run(id)).toEqual({ returns: [missing], isRequested: true });
  const contradicted = sql`update payouts set contradiction = 'failed_after_completed' where id = ${id}`;
  await sides.db.query(contradicted);
  expect(await run(id)).toEqual({ returns: [missing], isRequested: false });
  await sides.db.query(sql`update payouts set contradiction = null where id = ${id}`);
  await sides.db.query(sql`
    insert into payout_returns (end_to_end_id, return_id, payout_id, account_id, amount)
    values (${e2e}, 'D-before', ${id}, ${newId()}, 1301)`);
  const { returns, isRequested } = await run(id);
  expect(returns).toContainEqual(missing);
  expect(isRequested).toBe(false);
});

test('a return that was recorded under another end-to-end id is known', async () => {
  const { id, e2e } = await sides.aCompletedPayout();
  const answer = await sides.simulator.control('POST', `/control/pix/${e2e}/returns`, {
    amount: 300,
  });
  await sides.db.query(sql`
    insert into payout_returns (end_to_end_id, return_id, payout_id, account_id, amount)
    values ('E-former', ${(answer as { return_id: string }).return_id}, ${id}, ${newId()}, 300)`);
  const { returns, isRequested } = await run(id);
  expect(returns.filter(([, key]) => key?.startsWith(e2e))).toEqual([]);
  expect(isRequested).toBe(false);
});
