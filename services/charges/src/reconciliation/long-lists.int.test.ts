import type { Acquirer, ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { aReceivedPix } from '#test/a-received-pix.ts';

import { receivedCheck } from './received-check.ts';

const RECEIVED = 50;
const PAGES_MAX = 20;
const MINUTE_MS = 60_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

test('a day of many Pix is compared in parts of few pages each, every Pix once, and none is asked for twice', async () => {
  const pix = Array.from({ length: RECEIVED }, (_, index) => paidAgo((index + 1) * MINUTE_MS));
  const differing = pix[0]!.endToEndId;
  const gone = `E${newId()}`;
  await database.db.query(sql`
    insert into return_contradictions (end_to_end_id, return_id, status)
    values (${differing}, 'D-gone', 'failed'), (${gone}, 'D-gone', 'failed')`);
  const pages = new Set<number>();
  const asked: string[] = [];
  const check = receivedCheck({
    db: database.db,
    pixKey: 'key',
    ledger: {
      findJournals: async () => await Promise.resolve(new Map()),
      listJournals: async function* () {},
    },
    acquirer: {
      listReceived: pagesOfOne(pix, pages),
      getReceived: async (id) => {
        asked.push(id);
        return await Promise.resolve({ kind: 'not_found' });
      },
    },
  });
  const scope = { since: null, knownIds: [differing], signal: new AbortController().signal };
  const { breaks, compared } = await check.run(scope);
  expect(breaks.map(({ kind, id }) => `${kind} ${id}`).toSorted()).toEqual(
    pix.map(({ endToEndId }) => `missing_right ${endToEndId}`).toSorted(),
  );
  expect([compared, pages.size]).toEqual([RECEIVED + 1, PAGES_MAX]);
  expect(asked).toEqual([gone]);
});

/** The acquirer's list in pages of one, both ends of a window included; `read` takes the numbers of the pages. */
function pagesOfOne(pix: readonly ReceivedPix[], read: Set<number>): Acquirer['listReceived'] {
  return async ({ from, to, page }) => {
    read.add(page);
    const listed = pix.filter(({ paidAt }) => paidAt >= from && paidAt <= to);
    const items = listed.slice(page, page + 1);
    const hasMore = listed.length > page + 1;
    return await Promise.resolve({ kind: 'page', items, unreadable: [], hasMore });
  };
}

/** Within the newest window of a day. */
function paidAgo(ms: number): ReceivedPix {
  return aReceivedPix({ endToEndId: `E${newId()}`, paidAt: new Date(Date.now() - ms) });
}
