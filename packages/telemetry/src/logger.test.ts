import { AppError } from '@pixmesh/kernel/app-error';
import { expect, test } from 'vitest';

import { createLogger } from './logger.ts';

const CANARY = 'canary-7f3a';

test('a line says when, who and what', () => {
  const [line] = linesOf((logger) => logger.info({ charge_id: 'c1' }, 'charge paid'));
  expect(line).toMatchObject({
    service: 'charges',
    charge_id: 'c1',
    msg: 'charge paid',
    level: 30,
  });
  expect(line?.['time']).toMatch(/^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/);
});

test.each([
  'authorization',
  'x-api-key',
  'api_key',
  'key',
  'pix_key',
  'secret',
  'webhook_secret',
  'password',
  'token',
  'document',
  'customer',
  'email',
  'phone',
  'body',
  'headers',
])('%s never reaches the log, at the top or one level below', (name) => {
  const text = textOf((logger) => {
    logger.info({ [name]: CANARY });
    logger.info({ request: { [name]: CANARY } });
    logger.child({ [name]: CANARY }).warn('child');
  });
  expect(text).not.toContain(CANARY);
});

test('an error is its name, code, message, stack and causes, and none of its other fields', () => {
  const refused = Object.assign(
    new Error('duplicate key value violates constraint "charges_pkey"'),
    {
      code: '23505',
      detail: `Key (document)=(${CANARY}) already exists.`,
      where: CANARY,
      hint: CANARY,
      parameters: [CANARY],
    },
  );
  const error = new AppError('INTERNAL_ERROR', { message: 'could not store', cause: refused });
  const [line] = linesOf((logger) => logger.error({ err: error }, 'request failed'));
  expect(line).toMatchObject({
    err: {
      name: 'AppError',
      code: 'INTERNAL_ERROR',
      message: 'could not store',
      stack: expect.stringMatching(/^AppError: could not store\n +at /) as string,
      cause: { code: '23505', message: refused.message },
    },
  });
  expect(JSON.stringify(line)).not.toContain(CANARY);
});

test('an error that quotes its input keeps its name and its place, not its words', () => {
  const errors = [
    parseFailure(`{"document":"${CANARY}`),
    Object.assign(new Error(`invalid input syntax for type uuid: "${CANARY}"`), { code: '22P02' }),
  ];
  for (const err of errors) {
    const text = textOf((logger) => {
      logger.error({ err: new Error('outer', { cause: err }) });
      logger.error({ err });
      logger.error(err);
    });
    expect(text).not.toContain(CANARY);
    expect(text).toContain(err.name);
  }
});

test('a chain of causes is followed only so far, and what is no error has no content', () => {
  let error = new Error('innermost');
  for (let depth = 0; depth < 20; depth += 1) error = new Error(`level ${depth}`, { cause: error });
  const text = textOf((logger) => {
    logger.error({ err: error });
    logger.error({ err: CANARY });
    logger.error({ err: { message: CANARY } });
  });
  expect(text.match(/"message":"level/g)).toHaveLength(6);
  expect(text).not.toContain(CANARY);
});

function linesOf(
  write: (logger: ReturnType<typeof createLogger>) => void,
): Record<string, unknown>[] {
  return textOf(write)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function textOf(write: (logger: ReturnType<typeof createLogger>) => void): string {
  let text = '';
  write(createLogger('charges', 'info', { write: (line) => void (text += line) }));
  return text;
}

function parseFailure(text: string): Error {
  try {
    JSON.parse(text);
  } catch (error) {
    return error as Error;
  }
  throw new Error('that was JSON');
}
