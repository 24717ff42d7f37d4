import { expect, test } from 'vitest';

import { decideAnew } from './decide-anew.ts';

/** What becomes of a row that moves before so many writes, and how often it was tried. */
async function decideWhileMoving(moves: number) {
  let tries = 0;
  const decided = decideAnew('the charge', async () => {
    tries += 1;
    return tries <= moves ? 'moved' : 'paid';
  });
  const outcome = await decided.catch((error: unknown) => error);
  return { outcome, tries };
}

test('a decision whose row has moved is made anew until it is written', async () => {
  expect(await decideWhileMoving(0)).toEqual({ outcome: 'paid', tries: 1 });
  expect(await decideWhileMoving(4)).toEqual({ outcome: 'paid', tries: 5 });
});

test('a row that moves before five writes is named to the caller, who comes again', async () => {
  const { outcome, tries } = await decideWhileMoving(5);
  expect(tries).toBe(5);
  expect(outcome).toMatchObject({
    code: 'DEPENDENCY_UNAVAILABLE',
    message: 'the charge kept moving',
  });
});

test('a decision that fails is not made anew', async () => {
  let tries = 0;
  const decided = decideAnew('the charge', async () => {
    tries += 1;
    throw new Error('no such row');
  });
  await expect(decided).rejects.toThrow('no such row');
  expect(tries).toBe(1);
});
