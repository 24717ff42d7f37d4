import { createHash } from 'node:crypto';

import { sql } from '@pixmesh/postgres/sql';
import { isLong, scaled } from '@pixmesh/testkit/long-runs';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { CALLBACK_SECRET, startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

import { BODIES_MAX, BYTES_MAX } from './keep-unusable.ts';

const JUNK = scaled(1_000, 1_000_000);
const JUNK_CONNECTIONS = 8;
const LARGE_BYTES = 200_000;
/** More than all bodies that are kept whole. */
const PADDED = 2 * Math.ceil(BYTES_MAX / LARGE_BYTES);
/** One body in so many is large. */
const LARGE_EVERY = scaled(50, 100);
const GENUINE_PAUSE = 10;
/** Decision 212; a usual run beside others measures the machine. */
const ACK_P99_MS_MAX = isLong ? 100 : 5_000;

const KINDS: readonly ((n: number) => string)[] = [
  (n) => `no JSON ${n}`,
  (n) => `{"evento":"${n}"}`,
  (n) => `{"pix":[{"valor":"${n}"}]}`,
  (n) => `{"pix":[${n},null]}`,
  (n) => `["${n}"]`,
];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function post(body: string, secret = CALLBACK_SECRET): Promise<number> {
  const url = `http://127.0.0.1:${gateway.ports.callback}/acquirer/${secret}/pix`;
  const answer = await fetch(url, { method: 'POST', body });
  await answer.arrayBuffer();
  return answer.status;
}

/** Posts junk on several connections, until all of it is sent. */
function flood(): { isOver(): boolean; statuses: Set<number>; end: Promise<void> } {
  const statuses = new Set<number>();
  let sent = 0;
  let working = JUNK_CONNECTIONS;
  const work = async (): Promise<void> => {
    while (sent < JUNK) {
      const n = (sent += 1);
      const small = KINDS[n % KINDS.length]?.(n) ?? '';
      statuses.add(await post(n % LARGE_EVERY === 0 ? small.padEnd(LARGE_BYTES) : small));
    }
    working -= 1;
  };
  const works = Promise.all(Array.from({ length: JUNK_CONNECTIONS }, work));
  return { isOver: () => working === 0, statuses, end: works.then(() => undefined) };
}

test(
  'junk with the right secret is answered, bounded in what is stored, and holds up no genuine callback',
  async () => {
    const { isOver, statuses, end } = flood();
    const tookMs: number[] = [];
    for (let n = 0; !isOver(); n += 1) {
      const sinceMs = performance.now();
      expect(await post(`{"pix":[{"endToEndId":"E${n}","txid":"tx${n}"}]}`)).toBe(200);
      tookMs.push(performance.now() - sinceMs);
      await new Promise((resolve) => void setTimeout(resolve, GENUINE_PAUSE));
    }
    await end;
    expect([...statuses]).toEqual([200]);
    const [stored] = await gateway.database.db.query<Record<string, number>>(sql`
      select
        count(*) filter (where position('txid'::bytea in body) > 0)::int as genuine,
        count(*) filter (where position('txid'::bytea in body) = 0)::int as junk,
        coalesce(sum(length(body)) filter (where position('txid'::bytea in body) = 0), 0)::int as bytes,
        (select count(*)::int from events) as events
      from callbacks`);
    expect(stored?.['genuine']).toBe(tookMs.length);
    expect(stored?.['junk']).toBe(BODIES_MAX);
    expect(stored?.['bytes']).toBeLessThanOrEqual(BYTES_MAX);
    expect(stored?.['events']).toBeLessThanOrEqual(tookMs.length + BODIES_MAX);
    const p99Ms = tookMs.toSorted((a, b) => a - b)[Math.floor(tookMs.length * 0.99)] ?? 0;
    const figures = `${tookMs.length} genuine ones, p99 ${p99Ms.toFixed(1)} ms`;
    process.stdout.write(`${JUNK} junk bodies; ${figures}\n`);
    expect(p99Ms).toBeLessThanOrEqual(ACK_P99_MS_MAX);
  },
  scaled(60_000, 3_000_000),
);

test('what is sent beside items is bounded in what is stored, and no item is lost', async () => {
  const before = await sizeOfStored();
  const bodies = Array.from({ length: PADDED }, (_, n) => {
    const items = [{ endToEndId: `P${n}` }];
    return JSON.stringify({ pix: items, pad: 'x'.repeat(LARGE_BYTES) });
  });
  for (const body of bodies) expect(await post(body)).toBe(200);
  const after = await sizeOfStored();
  expect(after.rows - before.rows).toBe(PADDED);
  expect(after.events - before.events).toBe(PADDED);
  expect(after.bytes).toBeLessThanOrEqual(before.bytes + BYTES_MAX + PADDED * 100);
  const [last] = await gateway.database.db.query<{ body: Buffer; sha256: Buffer }>(
    sql`select body, sha256 from callbacks order by id desc limit 1`,
  );
  expect(last?.body.toString()).toBe(`{"pix":[{"endToEndId":"P${PADDED - 1}"}]}`);
  const sent = createHash('sha256').update(bodies.at(-1) ?? '');
  expect(last?.sha256).toEqual(sent.digest());
});

async function sizeOfStored(): Promise<{ rows: number; bytes: number; events: number }> {
  const [row] = await gateway.database.db.query<{
    rows: number;
    bytes: number;
    events: number;
  }>(sql`
    select count(*)::int as rows, coalesce(sum(length(body)), 0)::int as bytes,
      (select count(*)::int from events) as events
    from callbacks`);
  if (row === undefined) throw new Error('no row');
  return row;
}

test('with a wrong secret nothing is stored at all', async () => {
  const before = await countStored();
  const statuses = await Promise.all(KINDS.map((kind, n) => post(kind(n), 'x'.repeat(32))));
  expect(new Set(statuses)).toEqual(new Set([401]));
  expect(await countStored()).toBe(before);
});

async function countStored(): Promise<number> {
  const [row] = await gateway.database.db.query<{ rows: number }>(
    sql`select count(*)::int as rows from callbacks`,
  );
  return row?.rows ?? 0;
}
