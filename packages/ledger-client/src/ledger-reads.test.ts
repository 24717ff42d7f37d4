import type { InternalAnswer, InternalRequest } from '@pixmesh/http/internal-client';
import { newId } from '@pixmesh/kernel/ids';
import { describe, expect, test } from 'vitest';

import { createLedgerReads } from './ledger-reads.ts';

const TIME = '2026-11-21T12:00:00.000Z';

/** A ledger that answers by path, and remembers what it was asked. */
function ledgerThat(answer: (path: string, body: unknown) => { status?: number; body: unknown }) {
  const asked: InternalRequest[] = [];
  const reads = createLedgerReads({
    request: async (request): Promise<InternalAnswer> => {
      asked.push(request);
      const body: unknown = request.body && JSON.parse(Buffer.from(request.body).toString());
      const given = answer(request.path, body);
      const text = typeof given.body === 'string' ? given.body : JSON.stringify(given.body);
      return { status: given.status ?? 200, headers: {}, body: Buffer.from(text) };
    },
    [Symbol.asyncDispose]: async () => undefined,
  });
  return { asked, reads };
}

function aJournal(command_id: string, amount = 100) {
  const account_id = newId();
  return {
    command_id,
    account_id,
    kind: 'release_pending',
    resource_id: null,
    amount,
    created_at: TIME,
  };
}

async function readAll<T>(pages: AsyncIterable<T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const page of pages) items.push(...page);
  return items;
}

function aHold(hold_id: string) {
  const [account_id, resource_id] = [newId(), newId()];
  const money = { kind: 'payout', amount: 5, fee: 0, state: 'open' };
  return { hold_id, account_id, resource_id, ...money, created_at: TIME };
}

describe('journals', () => {
  test('are looked up a thousand at a time, each id once', async () => {
    const { asked, reads } = ledgerThat((_path, body) => ({
      body: {
        data: (body as { command_ids: string[] }).command_ids.map((id) => aJournal(id)),
        has_more: false,
      },
    }));
    const ids = Array.from({ length: 1_500 }, () => newId());
    const found = await reads.findJournals([...ids, ...ids]);
    expect([...found.keys()]).toEqual(ids);
    expect(asked.map(({ method, path, claims }) => ({ method, path, claims }))).toEqual(
      Array.from({ length: 2 }, () => ({
        method: 'POST',
        path: '/internal/journals/lookup',
        claims: null,
      })),
    );
  });

  test('of commands that moved nothing are none', async () => {
    const [moved, refused] = [newId(), newId()];
    const { reads } = ledgerThat(() => ({
      body: { data: [aJournal(moved), aJournal(refused, 0)], has_more: false },
    }));
    expect([...(await reads.findJournals([moved, refused])).keys()]).toEqual([moved]);
  });

  test('are not asked for when there is nothing to ask', async () => {
    const { asked, reads } = ledgerThat(() => ({ body: {} }));
    expect(await reads.findJournals([])).toEqual(new Map());
    expect(asked).toEqual([]);
  });
});

describe('journals by time', () => {
  const to = new Date('2026-11-22T00:00:00.000Z');

  test('are read to the last page, without those that moved nothing', async () => {
    const ids = Array.from({ length: 3 }, () => newId());
    const { asked, reads } = ledgerThat((path) => {
      const after = /starting_after=(.+)$/.exec(path)?.[1];
      const index = after === undefined ? 0 : ids.indexOf(after) + 1;
      const journal = aJournal(ids[index] ?? '', index === 1 ? 0 : 100);
      return { body: { data: [journal], has_more: index < 2 } };
    });
    const kinds = ['settle_hold', 'release_hold'] as const;
    const pages = reads.listJournals({ kinds, from: new Date(TIME), to });
    const found = await readAll(pages);
    expect(found.map(({ command_id }) => command_id)).toEqual([ids[0], ids[2]]);
    const [path = '', query] = asked[0]?.path.split('?') ?? [];
    expect(path).toBe('/internal/journals');
    expect(Object.fromEntries(new URLSearchParams(query))).toEqual({
      kinds: 'settle_hold,release_hold',
      created_from: TIME,
      created_to: to.toISOString(),
      limit: '1000',
    });
  });

  test('are not read on after an empty page that is not the last one', async () => {
    const { asked, reads } = ledgerThat(() => ({ body: { data: [], has_more: true } }));
    await expect(
      readAll(reads.listJournals({ kinds: ['settle_hold'], from: null, to })),
    ).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    expect(asked).toHaveLength(1);
  });

  test('are asked for from the first on when no time is told', async () => {
    const { asked, reads } = ledgerThat(() => ({ body: { data: [], has_more: false } }));
    await readAll(reads.listJournals({ kinds: ['settle_hold'], from: null, to }));
    expect(asked.map(({ path }) => path.includes('created_from'))).toEqual([false]);
  });
});

test('open holds are read to the last page', async () => {
  const ids = Array.from({ length: 3 }, () => newId());
  const { asked, reads } = ledgerThat((path) => {
    const after = /starting_after=(.+)$/.exec(path)?.[1];
    const index = after === undefined ? 0 : ids.indexOf(after) + 1;
    return { body: { data: [aHold(ids[index] ?? '')], has_more: index < 2 } };
  });
  expect([...(await reads.listOpenHolds('payout')).keys()]).toEqual(ids);
  expect(asked[0]?.path).toBe('/internal/holds?state=open&kind=payout&limit=1000');
});

test('a journal of a kind that only a newer ledger has is read', async () => {
  const journal = { ...aJournal(newId()), kind: 'of_a_newer_ledger' };
  const { reads } = ledgerThat(() => ({ body: { data: [journal], has_more: false } }));
  const found = await reads.findJournals([journal.command_id]);
  expect(found.get(journal.command_id)).toMatchObject({ kind: 'of_a_newer_ledger' });
});

test.each([
  ['an error', { status: 500, body: {} }],
  ['another shape', { body: { data: [{}], has_more: false } }],
  ['no JSON', { body: '<html>' }],
])('%s is no answer: nothing was read', async (_name, answer) => {
  const { reads } = ledgerThat(() => answer);
  const away = { code: 'DEPENDENCY_UNAVAILABLE' };
  await expect(reads.findJournals([newId()])).rejects.toMatchObject(away);
  const pages = reads.listJournals({ kinds: ['settle_hold'], from: null, to: new Date(TIME) });
  await expect(readAll(pages)).rejects.toMatchObject(away);
  await expect(reads.listOpenHolds('payout')).rejects.toMatchObject(away);
  await expect(reads.readTotals()).rejects.toMatchObject(away);
});
