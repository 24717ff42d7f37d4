import { expect, test } from 'vitest';

import { describeProblem } from './describe-problem.ts';

test('a message is cut between characters, wherever those beyond the basic plane stand', () => {
  for (const before of [178, 179, 180]) {
    const { code, message } = describeProblem('😀'.repeat(70), `${'a'.repeat(before)}😀b`);
    expect([code.isWellFormed(), message.isWellFormed()]).toEqual([true, true]);
    expect([[...code].length, [...message].length]).toEqual([64, 180]);
  }
});

test('characters that cannot be stored are left out', () => {
  expect(describeProblem('x', 'a\u0000b\ud83d')).toEqual({ code: 'x', message: 'a b\ufffd' });
});
