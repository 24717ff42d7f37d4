import { expect, test } from 'vitest';
import { parseStartArguments, parseTailArguments } from './command-line.ts';

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

test('tail takes a topic and where to begin', () => {
  expect(parseTailArguments(['tail', 'charges.events.v1'])).toEqual({
    topic: 'charges.events.v1',
    fromBeginning: false,
  });
  expect(parseTailArguments(['tail', 'a', '--from-beginning']).fromBeginning).toBe(true);
});

test('tail without a topic, or another command, is answered with the usage', () => {
  for (const args of [[], ['tail'], ['head', 'a'], ['tail', 'a', 'b']]) {
    expect(() => parseTailArguments(args)).toThrow('usage: npm run topics');
  }
});
