import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type ComparedSides, startComparedSides } from '#test/compared-sides.ts';

import { payoutCheck } from './payout-check.ts';

const SHORTLY_AGO = new Date(Date.now() - 60_000);
/** No payout of this file is within the windows of such a run. */
const IN_AN_HOUR = new Date(Date.now() + 3_600_000);

let sides: ComparedSides;
beforeAll(async () => {
  sides = await startComparedSides();
});
afterAll(() => sides[Symbol.asyncDispose]());

async function breaksSince(since: Date | null) {
  const { signal } = new AbortController();
  const { breaks } = await payoutCheck(sides).run({ since, knownIds: [], signal });
  return breaks.map(({ kind, id, found }) => ({ kind, id, found }));
}

test('a recorded return that the acquirer does not show is told, however old, once its list has shown that', async () => {
  const { id, e2e } = await sides.aCompletedPayout();
  await sides.db.query(sql`
    insert into payout_returns (end_to_end_id, return_id, payout_id, account_id, amount)
    values (${e2e}, 'D-gone', ${id}, ${newId()}, 150)`);
  const missing = [{ kind: 'missing_left', id: `${e2e}:D-gone`, found: '150' }];
  expect(await breaksSince(SHORTLY_AGO)).toEqual(missing);
  expect(await breaksSince(null)).toEqual(missing);
  expect(await breaksSince(IN_AN_HOUR)).toEqual([]);
  await sides.db.query(sql`
    insert into return_contradictions (end_to_end_id, return_id, status) values (${e2e}, 'D-gone', 'failed')`);
  expect(await breaksSince(IN_AN_HOUR)).toEqual(missing);
});
