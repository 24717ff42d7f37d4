import { deadlineIn } from '@pixmesh/http/deadline';
import { expect, test } from 'vitest';

import { checkNow, describeCheck } from './check-now.ts';

/** A row whose lease is free from the given try on. */
function aRow(freeFromTry: number) {
  const seen = { tries: 0, requests: 0 };
  return {
    seen,
    lease: async () => {
      seen.tries += 1;
      return seen.tries >= freeFromTry ? 'row' : null;
    },
    check: async () => 'found',
    request: async () => void (seen.requests += 1),
  };
}

test('a row that nobody checks is checked at once', async () => {
  const row = aRow(1);
  expect(await checkNow({ ...row, deadline: deadlineIn(60_000) })).toBe('found');
  expect(row.seen).toEqual({ tries: 1, requests: 0 });
});

test('one that is being checked is checked once more after it', async () => {
  const row = aRow(3);
  expect(await checkNow({ ...row, deadline: deadlineIn(60_000) })).toBe('found');
  expect(row.seen).toEqual({ tries: 3, requests: 0 });
});

test('where that takes too long, the check is left to the job', async () => {
  const row = aRow(Number.POSITIVE_INFINITY);
  expect(await checkNow({ ...row, deadline: deadlineIn(600) })).toBeNull();
  expect(row.seen.requests).toBe(1);
});

test('a check that waits for another asks a few times a second', async () => {
  const row = aRow(Number.POSITIVE_INFINITY);
  await checkNow({ ...row, deadline: deadlineIn(1_500) });
  expect(row.seen.tries).toBeLessThanOrEqual(6);
});

test('a check that outlives its caller goes on without it, whatever becomes of it', async () => {
  const { promise, reject } = Promise.withResolvers<string>();
  const row = { ...aRow(1), check: () => promise };
  expect(await checkNow({ ...row, deadline: deadlineIn(550) })).toBeNull();
  reject(new Error('the database went away'));
  await expect(promise).rejects.toThrow('the database went away');
});

const NEVER = { readAt: new Date(1_000), lastCheckAt: null, lastCheckAnswer: null };
const FOUND = { reachable: true, answer: 'found', error: null };

test('a caller gets its own answer, or that of a check which ended while it waited', () => {
  const after = { ...NEVER, readAt: new Date(9_000) };
  const own = describeCheck('found', { before: NEVER, after });
  expect(own).toEqual({ checked_at: '1970-01-01T00:00:09.000Z', acquirer: FOUND });
  const other = { ...after, lastCheckAt: new Date(2_000), lastCheckAnswer: 'found' };
  const another = describeCheck(null, { before: NEVER, after: other });
  expect(another).toEqual({ checked_at: '1970-01-01T00:00:02.000Z', acquirer: FOUND });
});

test('what was known before it asked is no answer to it', () => {
  const old = { ...NEVER, lastCheckAt: new Date(500), lastCheckAnswer: 'timeout' };
  const nothing = { checked_at: null, acquirer: null };
  expect(describeCheck(null, { before: old, after: old })).toEqual(nothing);
  expect(describeCheck(null, { before: NEVER, after: NEVER })).toEqual(nothing);
});
