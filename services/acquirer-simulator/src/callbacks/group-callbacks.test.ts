import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { ClaimedCallback } from './callbacks.sql.ts';
import { groupCallbacks } from './group-callbacks.ts';

const URL = 'http://127.0.0.1:1/callbacks';

function aCallback(id: number, names: readonly string[], change = {}): ClaimedCallback {
  const pix = names.map((endToEndId) => ({ endToEndId, valor: '1.00' }));
  const body = JSON.stringify({ pix });
  return { id: BigInt(id), body, attempts: 1, url: URL, alone: false, ...change };
}

function namesOf(body: string): string[] {
  return (JSON.parse(body) as { pix: { endToEndId: string }[] }).pix.map((item) => item.endToEndId);
}

describe('notices that are due together', () => {
  it('go out in one POST, oldest first', () => {
    const [group, ...others] = groupCallbacks([aCallback(2, ['b']), aCallback(1, ['a'])]);
    expect(others).toEqual([]);
    expect(namesOf(group?.body ?? '')).toEqual(['a', 'b']);
    expect(group?.callbacks.map(({ id }) => id)).toEqual([1n, 2n]);
  });

  it('go out apart to another URL', () => {
    const other = aCallback(2, ['b'], { url: 'http://127.0.0.1:1/other' });
    expect(groupCallbacks([aCallback(1, ['a']), other])).toHaveLength(2);
  });

  it('leave the body of a single one as it was queued', () => {
    const callback = aCallback(1, ['a'], { body: '{ "pix": [{"endToEndId":"a"}] }' });
    expect(groupCallbacks([callback])[0]?.body).toBe(callback.body);
  });

  const callbacks = fc
    .array(
      fc.record({
        names: fc.array(fc.constantFrom(...'abcdefghijklmnopqrst'), {
          minLength: 1,
          maxLength: 10,
        }),
        alone: fc.boolean(),
        url: fc.constantFrom(URL, `${URL}/other`),
      }),
      { maxLength: 40 },
    )
    .map((all) =>
      all.map(({ names, ...change }, id) => aCallback(id, [...new Set(names)], change)),
    );

  it('each go out once, at most ten Pix at a time, none twice in one POST, faulty ones alone', () => {
    fc.assert(
      fc.property(callbacks, (claimed) => {
        const groups = groupCallbacks(claimed);
        const sent = groups.flatMap((group) => group.callbacks.map(({ id }) => id));
        expect(sent.toSorted()).toEqual(claimed.map(({ id }) => id).toSorted());
        for (const group of groups) {
          const names = namesOf(group.body);
          expect(names).toEqual(group.callbacks.flatMap(({ body }) => namesOf(body)));
          expect(names.length).toBeLessThanOrEqual(10);
          expect(new Set(names).size).toBe(names.length);
          expect(new Set(group.callbacks.map(({ url }) => url))).toEqual(new Set([group.url]));
          if (group.callbacks.some(({ alone }) => alone)) expect(group.callbacks).toHaveLength(1);
        }
      }),
    );
  });
});
