import path from 'node:path';

import { expect, test } from 'vitest';

import { describeCounts, slowest, summarize } from './read-report.ts';

const at = (file: string) => path.resolve(file);

test('a report is told by counts, failures by name, and the times of files', () => {
  const report = summarize({
    numPassedTests: 3,
    numFailedTests: 1,
    numPendingTests: 1,
    numTodoTests: 1,
    testResults: [
      {
        name: at('tests/one.test.ts'),
        status: 'failed',
        message: '',
        startTime: 1_000,
        endTime: 3_500,
        assertionResults: [
          { fullName: 'it holds', status: 'failed', failureMessages: ['expected 1\n  at there'] },
        ],
      },
      {
        name: at('tests/two.test.ts'),
        status: 'failed',
        message: 'no such module',
        startTime: 0,
        endTime: 1,
        assertionResults: [],
      },
    ],
  });
  expect(report).toEqual({
    counts: { passed: 3, failed: 1, skipped: 2 },
    failures: ['tests/one.test.ts > it holds\n  expected 1', 'tests/two.test.ts\n  no such module'],
    files: [
      { file: 'tests/one.test.ts', ms: 2_500 },
      { file: 'tests/two.test.ts', ms: 1 },
    ],
  });
});

test('skipped tests are named only where there are some', () => {
  expect(describeCounts({ passed: 2, failed: 0, skipped: 0 })).toBe('2 passed, 0 failed');
  expect(describeCounts({ passed: 2, failed: 0, skipped: 1 })).toBe(
    '2 passed, 0 failed, 1 skipped',
  );
});

test('the slowest come first, as many as asked for', () => {
  const files = [1, 5, 3].map((ms) => ({ file: `${ms}`, ms }));
  expect(slowest(files, 2).map(({ ms }) => ms)).toEqual([5, 3]);
});
