import { AssertionError } from 'node:assert';

import { expect, test } from 'vitest';

import { AppError, assertNever, ERRORS, isBug } from './app-error.ts';

test('what a caller sees is the title of the code, never the internal message', () => {
  const cause = new Error('connection to 10.0.0.1 refused');
  const error = new AppError('INTERNAL_ERROR', { message: 'outbox is gone', cause });
  expect(error.publicMessage).toBe(ERRORS.INTERNAL_ERROR.title);
  expect(error.message).toBe('outbox is gone');
  expect(error.cause).toBe(cause);
  expect(error.details).toEqual([]);
});

test('a public message, details and extra keys are kept as given', () => {
  const extra = { charge_id: 'c' };
  const error = new AppError('ACQUIRER_REJECTED', {
    publicMessage: 'Chave inválida',
    details: ['x'],
    extra,
  });
  expect(error).toMatchObject({
    publicMessage: 'Chave inválida',
    details: ['x'],
    extra,
    retriable: false,
  });
});

test('only what may pass by waiting is retriable', () => {
  const retriable = Object.entries(ERRORS).filter(([, entry]) => entry.retriable);
  expect(retriable.map(([code]) => code)).toEqual([
    'RATE_LIMITED',
    'INTERNAL_ERROR',
    'DEPENDENCY_UNAVAILABLE',
  ]);
});

test('an impossible case is loud', () => {
  expect(() => assertNever('x' as never)).toThrow('unreachable');
});

test('what our own program stumbles over is a bug, and nothing that was thrown on purpose', () => {
  const bugs = [new TypeError('x'), new RangeError('x'), new AssertionError({ message: 'x' })];
  expect(bugs.map(isBug)).toEqual([true, true, true]);
  expect([new Error('x'), new AppError('CONFLICT'), null, 'x'].map(isBug)).toEqual(
    Array(4).fill(false),
  );
});
