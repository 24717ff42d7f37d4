import { TOPICS } from '@pixmesh/contracts/topics';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import type { Scope } from './check.ts';
import { createResources } from './resources.ts';

const PAGE_SIZE = 10;
const SINCE = new Date(Date.now() - 60_000);

type Resource = { id: string };

let database: TestDatabase;
/** Ids of each time that some were asked for. */
let asked: string[][];

beforeEach(async () => {
  database = await createTestDatabase('charges');
  asked = [];
});
afterEach(() => database[Symbol.asyncDispose]());

test('an incremental run begins with what was found before, and has each resource once', async () => {
  const ids = manyIds(4);
  const [walked, known, touched, changed] = ids;
  await announce([changed!, walked!]);
  const pages = await runOver({ walked: [known!, walked!], touched: [touched!] }, [known!]);
  expect(pages).toEqual([[known], [walked], [touched], [changed]]);
});

test('however many resources are known, touched or changed, a page of them is looked up at a time', async () => {
  const [known, touched, changed] = [manyIds(25), manyIds(25), manyIds(25)];
  await announce(changed);
  await runOver({ walked: [], touched }, known);
  expect(asked.flat().toSorted()).toEqual([...known, ...touched, ...changed].toSorted());
  expect(Math.max(...asked.map(({ length }) => length))).toBe(PAGE_SIZE);
});

test('a full run looks up in pages, too, what it has not walked over', async () => {
  const [walked, known] = [manyIds(2), manyIds(25)];
  const pages = await runOver({ walked, touched: [] }, [...known, walked[0]!], null);
  expect(pages.flat().toSorted()).toEqual([...walked, ...known].toSorted());
  expect(asked.map(({ length }) => length)).toEqual([10, 10, 5]);
});

function manyIds(count: number): string[] {
  return Array.from({ length: count }, () => newId());
}

/** Ids page by page; pages without any are left out. */
async function runOver(
  has: { walked: string[]; touched: string[] },
  knownIds: string[],
  since: Date | null = SINCE,
): Promise<string[][]> {
  const resourcesIn = createResources<Resource>({
    db: database.db,
    topic: TOPICS.chargesEvents,
    pageSize: PAGE_SIZE,
    read: ({ after }) => Promise.resolve(after === null ? has.walked.map((id) => ({ id })) : []),
    find: (ids) => {
      asked.push([...ids]);
      return Promise.resolve(ids.map((id) => ({ id })));
    },
    touchedSince: () => Promise.resolve(has.touched),
  });
  const scope: Scope = { since, knownIds, signal: new AbortController().signal };
  const pages: string[][] = [];
  for await (const page of resourcesIn(scope)) {
    if (page.length > 0) pages.push(page.map(({ id }) => id));
  }
  return pages;
}

/** One event of each. */
async function announce(keys: string[]): Promise<void> {
  await database.db.query(sql`
    insert into events (event_id, topic, key, type, message)
    select uuidv7(), ${TOPICS.chargesEvents}, key, 'x', '{}' from unnest(${keys}::text[]) as key`);
}
