import path from 'node:path';

import { expect, test } from 'vitest';

import { listNames, sqlNames, wordsOf } from './identifiers.ts';
import { listFiles, readRepositoryFile } from './repository-files.ts';

/**
 * The words that GLOSSARY.md lists as not used, searched over identifiers, file names, SQL objects and messages of log
 * lines. Prose is free, and so are names that others rely on or that are stored.
 */
type Rule = { words: string[]; except: string[][] };

/** Environment variables of an installation, and a label of a metric. */
const STABLE = /^(READ_BACK_[A-Z_]+|happening)$/;

const rules = readRules(readRepositoryFile('GLOSSARY.md'));
const programs = listFiles('{packages,services,deploy,benchmarks,tests,scripts}/**/*.ts');
const schemas = listFiles('services/*/schema.sql');

test('the glossary lists words that are not used', () => {
  expect(rules.length).toBeGreaterThan(20);
});

test('no file is named by one', () => {
  const files = [...programs, ...listFiles('docs/**/*.md'), ...schemas];
  expect(files.filter((file) => breaksRule(path.basename(file)))).toEqual([]);
});

// Reads every program, which a busy machine takes half a minute for.
test('no program names anything by one, nor says one in a log line', { timeout: 120_000 }, () => {
  // Most names occur many times: each is judged once.
  const places = new Map<string, string>();
  for (const file of programs) {
    const source = readRepositoryFile(file);
    for (const { text, offset } of listNames(file, source)) {
      if (!places.has(text)) places.set(text, `${file}:${lineAt(source, offset)} ${text}`);
    }
  }
  expect([...places.keys()].filter(breaksRule).map((text) => places.get(text))).toEqual([]);
});

test('no table, column, index or function is named by one', () => {
  const found = schemas.flatMap((file) =>
    sqlNames(readRepositoryFile(file))
      .filter(breaksRule)
      .map((name) => `${file} ${name}`),
  );
  expect([...new Set(found)]).toEqual([]);
});

test.each([
  ['lookAtCharge', true],
  ['look_at_charge', true],
  ['the payout is looked at', false],
  ['lookUp', false],
  ['lookup', false],
  ['applyTruth', true],
  ['kickOutbox', true],
])('%j breaks a rule: %j', (text, expected) => {
  expect(breaksRule(text)).toBe(expected);
});

function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length;
}

/** Rows of the table "Words that are not used": the words in backticks of its second column, its third names what is free. */
function readRules(glossary: string): Rule[] {
  const table = glossary.split('## Words that are not used')[1] ?? '';
  return table.split('\n').flatMap((line) => {
    const [, , not = '', except = ''] = line.split('|');
    const exceptions = quoted(except);
    return quoted(not).map((words) => ({ words, except: exceptions }));
  });
}

function quoted(cell: string): string[][] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => wordsOf(text));
}

function breaksRule(text: string): boolean {
  if (STABLE.test(text)) return false;
  const words = wordsOf(text);
  return rules.some(({ words: not, except }) => {
    const rest = except.reduce((left, allowed) => without(left, allowed), words);
    return indexOf(rest, not) !== -1;
  });
}

/** The words with each run of `part` taken out; what stood on both sides of it stays apart. */
function without(words: readonly string[], part: readonly string[]): string[] {
  const at = indexOf(words, part);
  if (at === -1) return [...words];
  return [...words.slice(0, at), '', ...without(words.slice(at + part.length), part)];
}

function indexOf(words: readonly string[], part: readonly string[]): number {
  return words.findIndex((_, index) =>
    part.every((word, offset) => words[index + offset] === word),
  );
}
