import { expect, test } from 'vitest';

import { parseTopicsArguments, TOPICS_HELP } from './topics-arguments.ts';

const TOPIC = 'charges.events.v1';
const TAIL = {
  command: 'tail',
  topic: TOPIC,
  fromBeginning: false,
  untilNow: false,
  key: null,
  prefix: null,
};

test('list and lag take a prefix, or that of the installation', () => {
  expect(parseTopicsArguments(['list'])).toEqual({ command: 'list', prefix: null });
  expect(parseTopicsArguments(['lag', '--prefix', 'r2-'])).toEqual({
    command: 'lag',
    prefix: 'r2-',
  });
  expect(parseTopicsArguments(['lag', '--prefix', ''])).toEqual({ command: 'lag', prefix: '' });
});

test('--help explains every command', () => {
  expect(parseTopicsArguments(['--help'])).toEqual({ command: 'help' });
  expect(parseTopicsArguments(['tail', '--help'])).toEqual({ command: 'help' });
  const words = ['list', 'lag', 'tail NAME', 'republish', '--key KEY', '--prefix PREFIX'];
  for (const word of [...words, '--from-beginning']) expect(TOPICS_HELP).toContain(word);
});

test('tail takes a topic, where to begin, a key and a prefix', () => {
  const tail = (...more: string[]) => parseTopicsArguments(['tail', TOPIC, ...more]);
  expect(tail()).toEqual(TAIL);
  expect(tail('--from-beginning')).toEqual({ ...TAIL, fromBeginning: true });
  expect(tail('--from-beginning', '--until-now')).toEqual({
    ...TAIL,
    fromBeginning: true,
    untilNow: true,
  });
  expect(tail('--key', 'k', '--prefix', 'r2-')).toEqual({ ...TAIL, key: 'k', prefix: 'r2-' });
});

test('republish takes a topic, since when, and a key or none', () => {
  const asked = ['republish', '--topic', TOPIC, '--from', '2026-11-22T10:00:00Z'];
  const from = new Date('2026-11-22T10:00:00Z');
  const all = { command: 'republish', topic: TOPIC, from, key: null };
  expect(parseTopicsArguments(asked)).toEqual(all);
  expect(parseTopicsArguments([...asked, '--key', 'k'])).toEqual({ ...all, key: 'k' });
});

test.each([
  [[]],
  [['tail']],
  [['head', TOPIC]],
  [['tail', TOPIC, TOPIC]],
  [['list', TOPIC]],
  [['lag', '--key', 'k']],
  [['tail', TOPIC, '--from', '2026-11-22']],
  [['tail', TOPIC, '--all']],
  [['tail', TOPIC, '--until-now']],
  [['list', '--until-now']],
  [['republish', '--topic', TOPIC]],
  [['republish', '--topic', TOPIC, '--from', 'yesterday']],
  [['republish', '--from', '2026-11-22']],
  [['republish', '--topic', TOPIC, '--from', '2026-11-22', '--prefix', 'r2-']],
  [['republish', '--topic', TOPIC, '--from', '2026-11-22', '--until-now']],
  [['lag', '--fast']],
])('%j is answered with the usage', (args) => {
  expect(() => parseTopicsArguments(args)).toThrow('usage: topics list');
});

test('a topic that there is not is answered with those that there are', () => {
  for (const args of [['tail'], ['republish', '--from', '2026-11-22', '--topic']]) {
    expect(() => parseTopicsArguments([...args, 'r2-charges.events.v1'])).toThrow(
      'no topic r2-charges.events.v1; there are acquirer.callbacks.v1, ',
    );
  }
});
