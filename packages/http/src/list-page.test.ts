import { QueryText } from '@pixmesh/contracts/http/query-fields';
import { AppError } from '@pixmesh/kernel/app-error';
import { newId } from '@pixmesh/kernel/ids';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { answerList, readListQuery } from './list-page.ts';

const CURSOR = '019a0000-0000-7000-8000-000000000001';
const Filters = z.object({ status: z.enum(['active', 'inactive']).optional() });

function read(query: Record<string, unknown>) {
  return readListQuery(Filters, query);
}

describe('the query of a list', () => {
  test('defaults to the first twenty', () => {
    expect(read({})).toEqual({ limit: 20, startingAfter: null, filters: {} });
  });

  test('takes paging and filters, and ignores what it does not know', () => {
    const query = { limit: '100', starting_after: CURSOR.toUpperCase(), status: 'active', x: '1' };
    expect(read(query)).toEqual({
      limit: 100,
      startingAfter: CURSOR,
      filters: { status: 'active' },
    });
  });

  test.each([
    { query: { limit: '0' }, detail: 'limit' },
    { query: { limit: '101' }, detail: 'limit' },
    { query: { limit: '1.0' }, detail: 'limit' },
    { query: { limit: '1e1' }, detail: 'limit' },
    { query: { limit: '' }, detail: 'limit' },
    { query: { limit: ['1', '2'] }, detail: 'limit' },
    { query: { 'limit[]': '1' }, detail: 'limit' },
    { query: { limit: '1', 'limit[0]': '1' }, detail: 'limit' },
    { query: { starting_after: 'x' }, detail: 'starting_after' },
    { query: { starting_after: [CURSOR, CURSOR] }, detail: 'starting_after' },
    { query: { status: 'unknown' }, detail: 'status' },
    { query: { status: ['active', 'inactive'] }, detail: 'status' },
  ])('is refused by the name of the parameter: $query', ({ query, detail }) => {
    expect(() => read(query)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', details: [detail] }) as AppError,
    );
  });
});

test('faults of paging and of filters are named in one answer (decision 11)', () => {
  expect(() => read({ limit: '0', starting_after: 'q', status: 'x' })).toThrow(
    expect.objectContaining({ details: ['limit', 'starting_after', 'status'] }) as AppError,
  );
});

describe('the page of a list', () => {
  const rows = ['c', 'b', 'a'];
  const steps = {
    fetch: async (limit: number) => rows.slice(0, limit),
    cursorExists: async (id: string) => id === CURSOR,
    toResource: (id: string) => ({ id }),
  };

  test.each([
    { limit: 2, data: ['c', 'b'], more: true },
    { limit: 3, data: ['c', 'b', 'a'], more: false },
    { limit: 4, data: ['c', 'b', 'a'], more: false },
  ])('of $limit tells whether there are more', async ({ limit, data, more }) => {
    expect(await answerList({ ...steps, page: { limit, startingAfter: null } })).toEqual({
      object: 'list',
      data: data.map((id) => ({ id })),
      has_more: more,
    });
  });

  test('ends before the first row for which there is no room', async () => {
    const roomy = { ...steps, fits: (id: string) => id !== 'b' };
    expect(await answerList({ ...roomy, page: { limit: 3, startingAfter: null } })).toEqual({
      object: 'list',
      data: [{ id: 'c' }],
      has_more: true,
    });
  });

  test('after the last item is empty; after an unknown one it is refused', async () => {
    const empty = { ...steps, fetch: async () => [] };
    expect(await answerList({ ...empty, page: { limit: 2, startingAfter: CURSOR } })).toMatchObject(
      {
        data: [],
        has_more: false,
      },
    );
    await expect(
      answerList({ ...empty, page: { limit: 2, startingAfter: 'other' } }),
    ).rejects.toMatchObject({ code: 'VALIDATION_ERROR', details: ['starting_after'] });
  });
});

test.each(['\0', 'a\nb', '\ud800'])(
  'a filter by text that cannot exist is a fault of the filter',
  (route) => {
    const filters = z.object({ route: QueryText.optional() });
    const read = () => readListQuery(filters, { route });
    expect(read).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR', details: ['route'] }));
  },
);

test('a cursor that is no id is refused in the words of one that is unknown', async () => {
  const unknown = answerList({
    page: { limit: 1, startingAfter: newId() },
    fetch: async () => [],
    cursorExists: async () => false,
    toResource: (row: object) => row,
  });
  const refusal = await unknown.catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(AppError);
  const { publicMessage, details } = refusal as AppError;
  expect(() => readListQuery(z.object({}), { starting_after: 'x' })).toThrow(
    expect.objectContaining({ publicMessage, details }) as Error,
  );
});
