import { expect, test } from 'vitest';
import { parseStartArguments } from './command-line.ts';

test('without flags the demo runs in the foreground', () => {
  expect(parseStartArguments([])).toEqual({
    demo: true,
    detach: false,
    watch: false,
    restart: undefined,
    detached: false,
  });
});

test('flags of a start are understood together', () => {
  const given = parseStartArguments(['--no-demo', '--detach', '--watch']);
  expect(given).toMatchObject({ demo: false, detach: true, watch: true });
  expect(parseStartArguments(['--restart', 'gateway']).restart).toBe('gateway');
});

test('an unknown flag is answered with the usage', () => {
  expect(() => parseStartArguments(['--fast'])).toThrow(/--fast.*usage: npm start/);
  expect(() => parseStartArguments(['--restart'])).toThrow(/usage/);
});
