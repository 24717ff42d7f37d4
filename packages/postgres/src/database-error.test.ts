import { AppError } from '@pixmesh/kernel/app-error';
import pg from 'pg';
import { expect, test } from 'vitest';

import {
  blamesContent,
  databaseError,
  isConnectionLost,
  isRepeatable,
  violatedConstraint,
} from './database-error.ts';

const NOT_NOW = `08006 25006 25P02 25P03 40001 40P01 53300 55P03 57014 57P01 57P03 58030`.split(
  ' ',
);

test.each(NOT_NOW)('SQLSTATE %s says "not now"', (code) => {
  expect(databaseError(answer(code))).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
});

test.each(['22P02', '23505', '42P01', 'P0001', '28P01'])(
  'SQLSTATE %s is an answer, and stays what it is',
  (code) => {
    const error = answer(code);
    expect(databaseError(error)).toBe(error);
  },
);

test.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'])(
  'a socket that fails with %s means that the database is away',
  (code) => {
    const error = databaseError(Object.assign(new Error('connect'), { code }));
    expect(error).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', retriable: true });
    expect(isConnectionLost(error)).toBe(true);
  },
);

test.each([
  'Connection terminated unexpectedly',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
])('"%s" means that the database is away', (message) => {
  expect(isConnectionLost(databaseError(new Error(message)))).toBe(true);
});

test('a deadlock is repeated on the same connection', () => {
  const error = databaseError(answer('40P01'));
  expect(isRepeatable(error)).toBe(true);
  expect(isConnectionLost(error)).toBe(false);
  expect(isRepeatable(new AppError('CONFLICT'))).toBe(false);
});

test('what is no error of the database stays what it is', () => {
  for (const thrown of [new TypeError('x'), new AppError('CONFLICT'), 'text', null, undefined]) {
    expect(databaseError(thrown)).toBe(thrown);
    expect(isRepeatable(thrown)).toBe(false);
  }
});

test('only a violated constraint has a name', () => {
  const violation = Object.assign(answer('23505'), { constraint: 'charges_pkey' });
  expect(violatedConstraint(violation)).toBe('charges_pkey');
  expect(violatedConstraint(answer('42P01'))).toBeNull();
  expect(violatedConstraint(new Error('x'))).toBeNull();
});

test.each(['22P02', '22003', '23505', '23514', 'P0001'])(
  'SQLSTATE %s blames what was written',
  (code) => {
    expect(blamesContent(answer(code))).toBe(true);
  },
);

test.each(['57014', '25006', '42P01', '40P01'])(
  'SQLSTATE %s blames nothing that was written',
  (code) => {
    expect(blamesContent(answer(code))).toBe(false);
    expect(blamesContent(databaseError(answer(code)))).toBe(false);
  },
);

test('an error that no database made blames nothing that was written', () => {
  for (const error of [new Error('x'), new AppError('MESSAGE_INVALID'), null, undefined]) {
    expect(blamesContent(error)).toBe(false);
  }
});

function answer(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError('refused', 0, 'error'), { code });
}
