import { expect, test } from 'vitest';
import { parseTopicsArguments, TOPICS_HELP } from './topics-arguments.ts';

test('list and lag take nothing', () => {
  expect(parseTopicsArguments(['list'])).toEqual({ command: 'list' });
  expect(parseTopicsArguments(['lag'])).toEqual({ command: 'lag' });
});

test('--help explains every command', () => {
  expect(parseTopicsArguments(['--help'])).toEqual({ command: 'help' });
  expect(parseTopicsArguments(['tail', '--help'])).toEqual({ command: 'help' });
  for (const word of ['list', 'lag', 'tail NAME', 'republish', '--key KEY', '--from-beginning']) {
    expect(TOPICS_HELP).toContain(word);
  }
});

test('tail takes a topic, where to begin, and a key', () => {
  expect(parseTopicsArguments(['tail', 'charges.events.v1'])).toEqual({
    command: 'tail',
    topic: 'charges.events.v1',
    fromBeginning: false,
    untilNow: false,
    key: null,
  });
  const all = parseTopicsArguments(['tail', 'a', '--from-beginning']);
  expect(all).toMatchObject({ fromBeginning: true, untilNow: false });
  const present = parseTopicsArguments(['tail', 'a', '--from-beginning', '--until-now']);
  expect(present).toMatchObject({ fromBeginning: true, untilNow: true });
  expect(parseTopicsArguments(['tail', 'a', '--key', 'k'])).toMatchObject({ key: 'k' });
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
    ['list', 'a'],
    ['lag', '--key', 'k'],
    ['tail', 'a', '--from', '2026-11-22'],
    ['tail', 'a', '--until-now'],
    ['list', '--until-now'],
    ['republish', '--topic', 'a'],
    ['republish', '--topic', 'a', '--from', 'yesterday'],
    ['republish', '--from', '2026-11-22'],
  ];
  for (const args of wrong) {
    expect(() => parseTopicsArguments(args)).toThrow('usage: npm run topics');
  }
});
