import { describe, expect, test } from 'vitest';

import { listFiles, readRepositoryFile } from './repository-files.ts';

const BOOK = 'docs/decisions.md';
const THIS_FILE = 'tests/structure/decisions.test.ts';

/** `decision 62`, `decisions 12, 52 and 253`, `decisions 69–73`, `decisions 188 to 195`. */
const NUMBERS = String.raw`\d+(?:\s*(?:–|to)\s*\d+)?`;
const CITATION = new RegExp(
  String.raw`\bdecisions?\s+(${NUMBERS}(?:(?:,| and)\s+${NUMBERS})*)`,
  'gi',
);
/** A citation may run over the end of a comment's line. */
const LINE_END = /\n\s*(?:\*|\/\/|--|#)?\s*/g;

type Row = { number: number; isContract: boolean };

const book: Row[] = readRepositoryFile(BOOK)
  .split('\n')
  .flatMap((line) => {
    const found = /^\| (\d+)( \[C\])? \|/.exec(line);
    return found === null ? [] : [{ number: Number(found[1]), isContract: found[2] !== undefined }];
  });

const cited = new Map<number, string[]>();
for (const file of listFiles(
  '{packages,services,deploy,benchmarks,tests,scripts,docs}/**/*.{ts,sql,md,json}',
).concat(listFiles('*.md'))) {
  if (file === BOOK || file === THIS_FILE || file === 'CHANGELOG.md') continue;
  for (const number of readCitations(readRepositoryFile(file))) {
    cited.set(number, [...(cited.get(number) ?? []), file]);
  }
}

describe('the book of decisions', () => {
  test('has rows, each number once', () => {
    const numbers = book.map(({ number }) => number);
    expect(numbers.length).toBeGreaterThan(200);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  test('every cited decision exists', () => {
    const known = new Set(book.map(({ number }) => number));
    const unknown = [...cited].filter(([number]) => !known.has(number));
    expect(unknown.map(([number, files]) => `${number}: ${files.join(', ')}`)).toEqual([]);
  });

  test('every decision is cited, or marked as a contract', () => {
    const idle = book.filter(({ number, isContract }) => !isContract && !cited.has(number));
    expect(idle.map(({ number }) => number)).toEqual([]);
  });

  test('none that is cited is marked as cited nowhere', () => {
    const marked = book.filter(({ number, isContract }) => isContract && cited.has(number));
    expect(marked.map(({ number }) => number)).toEqual([]);
  });
});

test.each([
  ['see decision 62.', [62]],
  ['(decisions 12, 52 and 253)', [12, 52, 253]],
  ['(decisions 69–71)', [69, 70, 71]],
  ['decisions 188 to 190, 195', [188, 189, 190, 195]],
  ['as in decisions 7,\n * 101 say', [7, 101]],
  ['three decisions, 12 of them old', []],
])('%j cites %j', (text, numbers) => {
  expect(readCitations(text)).toEqual(numbers);
});

function readCitations(text: string): number[] {
  const flat = text.replaceAll(LINE_END, ' ');
  return [...flat.matchAll(CITATION)].flatMap(([, list = '']) =>
    list.split(/,| and/).flatMap((part) => {
      const [first = '', last = first] = part.split(/–|to/).map((text) => text.trim());
      const count = Number(last) - Number(first) + 1;
      return Array.from({ length: count }, (_, index) => Number(first) + index);
    }),
  );
}
