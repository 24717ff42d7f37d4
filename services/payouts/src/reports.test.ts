import { createLogger } from '@pixmesh/telemetry/logger';
import { expect, test } from 'vitest';

import { aSentPayout } from '#test/a-sent-payout.ts';

import {
  contradicted,
  CHECK_PROBLEMS,
  type CheckProblem,
  checkShowedProblem,
  sendAbandoned,
  sendEnded,
} from './reports.ts';

const ERROR = 50;
const WARN = 40;

function aLog() {
  const lines: string[] = [];
  const logger = createLogger('payouts', 'info', { write: (line) => void lines.push(line) });
  return { logger, lines, first: () => JSON.parse(lines[0] ?? '{}') as object };
}

test('a contradiction is an error that names payout, status and kind, for an operator to be paged', () => {
  const { logger, first } = aLog();
  const payout = aSentPayout({ status: 'completed' });
  contradicted(logger, payout, 'failed_after_completed');
  expect(first()).toMatchObject({
    level: ERROR,
    payout_id: payout.id,
    status: 'completed',
    contradiction: 'failed_after_completed',
  });
});

test.each(Object.keys(CHECK_PROBLEMS) as CheckProblem[])(
  'what cannot be (%s) is an error',
  (problem) => {
    const { logger, first } = aLog();
    const payout = aSentPayout();
    checkShowedProblem(logger, payout, problem);
    expect(first()).toMatchObject({
      level: ERROR,
      payout_id: payout.id,
      msg: CHECK_PROBLEMS[problem],
    });
  },
);

test('only a send that ended unknown is worth a line', () => {
  const { logger, lines, first } = aLog();
  const payout = aSentPayout();
  sendEnded(logger, payout, { kind: 'accepted' });
  sendEnded(logger, payout, { kind: 'refused' });
  expect(lines).toEqual([]);
  sendEnded(logger, payout, { kind: 'unknown', cause: 'timeout' });
  expect(first()).toMatchObject({ level: WARN, payout_id: payout.id, cause: 'timeout' });
});

test('nothing that is said of a payout carries its key, its document, its amount or its text', () => {
  const { logger, lines } = aLog();
  const payout = aSentPayout({
    recipientDocument: '52998224725',
    recipientName: 'Ana Souza',
    description: 'Repasse secreto',
  });
  contradicted(logger, payout, 'completed_after_failed');
  checkShowedProblem(logger, payout, 'vanished');
  sendAbandoned(logger, payout);
  sendEnded(logger, payout, { kind: 'unknown', cause: 'timeout' });
  expect(lines).toHaveLength(4);
  for (const secret of [
    payout.pixKey,
    payout.pixKeyCanonical,
    '52998224725',
    'Ana Souza',
    'secreto',
  ]) {
    expect(lines.join('')).not.toContain(secret);
  }
});
