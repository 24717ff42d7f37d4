import { newId } from '@pixmesh/kernel/ids';
import { expect, test } from 'vitest';

import type { OracleCommand } from '#test/oracle-books.ts';

import type { Delivery } from './model-round.ts';
import type { FoundJournal } from './read-books.sql.ts';
import { verifyDeliveries } from './verify-deliveries.ts';

const [accountId, holdId] = [newId(), newId()];
const settle: OracleCommand = {
  id: newId(),
  accountId,
  kind: 'hold.settle',
  holdId,
  resourceId: newId(),
};
const returned: OracleCommand = {
  id: newId(),
  accountId,
  kind: 'received_pix.return',
  subject: newId(),
  amount: 1,
};

type Answer = 'rejected' | 'booked';

/** The breaks where a command was rejected as exceeding its Pix, and was booked with this word, in this order. */
function breaksOf(command: OracleCommand, word: string, order: readonly Answer[]): string[] {
  const { id: commandId, kind } = command;
  const found: FoundJournal = {
    commandId,
    accountId,
    kind,
    word,
    version: null,
    atMs: 1,
    entries: [],
  };
  const replies = {
    rejected: { word: 'exceeds_received', isRejected: true, isFirst: false, version: null },
    booked: { word, isRejected: false, isFirst: true, version: null },
  };
  const deliveries = order.map((answer, at): Delivery => {
    return { command, startedAt: at, answered: { at, reply: replies[answer] } };
  });
  return verifyDeliveries(deliveries, new Map([[commandId, found]]), new Map()).breaks;
}

test('a settlement that exceeded its Pix may find its hold released when it comes again', () => {
  expect(breaksOf(settle, 'already_released', ['rejected', 'booked'])).toEqual([]);
});

test('a command that is rejected after it was booked is a break', () => {
  expect(breaksOf(settle, 'already_released', ['booked', 'rejected'])).toEqual([
    `hold.settle ${settle.id} was rejected as exceeds_received, but is booked as already_released`,
  ]);
});

test.each([
  [settle, 'booked'],
  [returned, 'booked'],
  [returned, 'noted'],
])('nothing else that exceeded its Pix is booked later: $0.kind as %s', (command, word) => {
  expect(breaksOf(command, word, ['rejected', 'booked'])).toEqual([
    `${command.kind} ${command.id} was rejected as exceeds_received, but is booked as ${word}`,
  ]);
});
