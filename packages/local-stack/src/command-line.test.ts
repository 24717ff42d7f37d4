import { expect, test } from 'vitest';
import { parseStartArguments, parseTopicsArguments } from './command-line.ts';

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
  expect(parseTopicsArguments(['tail', 'charges.events.v1'])).toEqual({
    command: 'tail',
    topic: 'charges.events.v1',
    fromBeginning: false,
  });
  const all = parseTopicsArguments(['tail', 'a', '--from-beginning']);
  expect(all).toMatchObject({ fromBeginning: true });
});

test('republish takes a topic, since when, and a key', () => {
  const asked = ['republish', '--topic', 'a', '--from', '2026-11-22T10:00:00Z'];
  const from = new Date('2026-11-22T10:00:00Z');
  expect(parseTopicsArguments(asked)).toEqual({
    command: 'republish',
    topic: 'a',
    from,
    key: null,
  });
  expect(parseTopicsArguments([...asked, '--key', 'k'])).toMatchObject({ key: 'k' });
});

test('what is neither is answered with the usage', () => {
  const wrong = [
    [],
    ['tail'],
    ['head', 'a'],
    ['tail', 'a', 'b'],
    ['tail', 'a', '--key', 'k'],
    ['republish', '--topic', 'a'],
    ['republish', '--topic', 'a', '--from', 'yesterday'],
    ['republish', '--from', '2026-11-22'],
  ];
  for (const args of wrong) {
    expect(() => parseTopicsArguments(args)).toThrow('usage: npm run topics');
  }
});
