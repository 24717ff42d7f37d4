import { describe, expect, test } from 'vitest';

import {
  listAllPages,
  listInParts,
  listReadablePages,
  type TimeWindow,
  unreadableBreaks,
  windowToList,
} from './list-pages.ts';

const DAY_MS = 86_400_000;
const away = { code: 'DEPENDENCY_UNAVAILABLE' };
const window = { from: new Date(0), to: new Date(10) };

describe('a list', () => {
  test('is all of its pages, in one window', async () => {
    const asked: unknown[] = [];
    const items = await listAllPages(async (page) => {
      asked.push(page);
      return { kind: 'page', items: [page.page], unreadable: [], hasMore: page.page < 2 };
    }, window);
    expect(items).toEqual([0, 1, 2]);
    expect(asked).toEqual([0, 1, 2].map((page) => ({ ...window, page })));
  });

  test('of which one page is unknown is no list', async () => {
    const list = listAllPages<number>(async ({ page }) => {
      if (page === 1) return { kind: 'unknown', cause: 'timeout' };
      return { kind: 'page', items: [page], unreadable: [], hasMore: true };
    }, window);
    await expect(list).rejects.toMatchObject(away);
  });

  test('with items that cannot be read is none, or the rest of it where each item counts alone', async () => {
    const unreadable = [{ endToEndId: 'E1' }, { endToEndId: null }];
    const read = async ({ page }: { page: number }) => ({
      kind: 'page' as const,
      items: [page],
      unreadable,
      hasMore: page < 1,
    });
    await expect(listAllPages<number>(read, window)).rejects.toMatchObject(away);
    const listed = await listReadablePages<number>(read, window);
    expect(listed.items).toEqual([0, 1]);
    expect(unreadableBreaks('received', listed.unreadable)).toMatchObject([
      { kind: 'unavailable', id: 'E1' },
      { kind: 'unavailable', id: 'received' },
    ]);
  });
});

describe('a list in parts', () => {
  /** A list of another system: an item for each of these instants, in pages of one. */
  function aListOf(instants: readonly number[]) {
    return async ({ from, to, page }: { from: Date; to: Date; page: number }) => {
      const own = instants.filter((at) => at >= from.getTime() && at < to.getTime());
      const items = own.slice(page, page + 1);
      return { kind: 'page' as const, items, unreadable: [], hasMore: own.length > page + 1 };
    };
  }

  async function readParts(instants: readonly number[], days = 1) {
    const parts: { window: TimeWindow; items: number[] }[] = [];
    const whole = { from: new Date(0), to: new Date(days * DAY_MS) };
    for await (const part of listInParts(aListOf(instants), whole)) parts.push(part);
    return parts;
  }

  test('is one part where it is short', async () => {
    const parts = await readParts([5, 6, 7]);
    const window = { from: new Date(0), to: new Date(DAY_MS) };
    expect(parts).toEqual([{ window, items: [5, 6, 7], unreadable: [] }]);
  });

  test('has parts of few pages, in order and without a hole, where it is long', async () => {
    const instants = Array.from({ length: 300 }, (_, index) => index * 200_000 + 1);
    const parts = await readParts(instants);
    expect(parts.flatMap(({ items }) => items)).toEqual(instants);
    expect(Math.max(...parts.map(({ items }) => items.length))).toBeLessThanOrEqual(20);
    const ends = parts.map(({ window: { to } }) => to.getTime());
    const starts = parts.map(({ window: { from } }) => from.getTime());
    expect([...starts.slice(1), DAY_MS]).toEqual(ends);
  });

  test('has wide parts where it has few items, and narrow ones where it has many', async () => {
    const busy = Array.from({ length: 100 }, (_, index) => 40 * DAY_MS + index * 1_000);
    const parts = await readParts(busy, 120);
    expect(parts.flatMap(({ items }) => items)).toEqual(busy);
    const widths = parts.map(
      ({ window: { from, to } }) => (to.getTime() - from.getTime()) / DAY_MS,
    );
    expect(widths.slice(0, 5)).toEqual([1, 2, 4, 8, 8]);
    expect(Math.max(...widths)).toBe(8);
    expect(Math.max(...parts.map(({ items }) => items.length))).toBeLessThanOrEqual(20);
    // One for each of 120 days before.
    expect(parts.length).toBeLessThan(60);
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeCloseTo(120);
  });

  test('is read whole where all of it is of one moment', async () => {
    const instants = Array.from({ length: 100 }, () => 77_777);
    expect((await readParts(instants)).flatMap(({ items }) => items)).toEqual(instants);
  });

  test('of which one page is unknown is no list', async () => {
    const parts = listInParts<number>(async () => ({ kind: 'unknown', cause: 'timeout' }), window);
    await expect(parts.next()).rejects.toMatchObject(away);
  });
});

describe('the window of a run', () => {
  test('goes back 120 days in a full run, and a little behind its watermark in an incremental one', () => {
    const full = windowToList({ since: null });
    const since = new Date(Date.now() - 60_000);
    const incremental = windowToList({ since });
    expect(Date.now() - full.from.getTime()).toBeGreaterThanOrEqual(120 * DAY_MS);
    expect(since.getTime() - incremental.from.getTime()).toBe(900_000);
    expect(incremental.to.getTime()).toBeGreaterThan(Date.now());
  });
});
