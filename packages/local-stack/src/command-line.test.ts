import { expect, test } from 'vitest';
import { parseStartArguments } from './command-line.ts';

test('without flags the demo runs in the foreground', () => {
  expect(parseStartArguments([])).toEqual({
    demo: true,
    detach: false,
    watch: false,
    observe: false,
    restart: undefined,
    scale: new Map(),
    detached: false,
  });
});

test('flags of a start are understood together', () => {
  const given = parseStartArguments(['--no-demo', '--detach', '--watch']);
  expect(given).toMatchObject({ demo: false, detach: true, watch: true });
  expect(parseStartArguments(['--restart', 'gateway']).restart).toBe('gateway');
  const { scale } = parseStartArguments(['--scale', 'charges=2,ledger=3', '--scale', 'gateway=2']);
  expect(Object.fromEntries(scale)).toEqual({ charges: 2, ledger: 3, gateway: 2 });
});

test('an unknown flag is answered with the usage', () => {
  expect(() => parseStartArguments(['--fast'])).toThrow(/--fast.*usage: npm start/);
  expect(() => parseStartArguments(['--restart'])).toThrow(/usage/);
});
