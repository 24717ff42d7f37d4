import { newId } from '@pixmesh/kernel/ids';
import { named, sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type ChargesUnderTest, startChargesUnderTest } from '#test/charges-under-test.ts';

let charges: ChargesUnderTest;

beforeAll(async () => {
  charges = await startChargesUnderTest();
});
afterAll(async () => {
  await charges[Symbol.asyncDispose]();
});

const CUSTOMER =
  '"customer":{"name":"Ana Souza","email":"ana@example.com","document":"529.982.247-25"}';

/** The text of a body with this amount, as it stands on the wire. */
function withAmount(amount: string): string {
  return `{"amount":${amount},${CUSTOMER}}`;
}

async function create(text: string | Buffer) {
  const caller = { ...aCaller(), creation_id: newId() };
  // As a client does after an unknown outcome: the same call under the same key.
  const answer = await eventually(async () => {
    const tried = await charges.request(caller, 'POST /v1/charges', text);
    expect(tried.status).not.toBe(500);
    return tried;
  });
  const rows = await charges.db.query(
    named('test_charge', sql`select from charges where id = ${caller.creation_id}`),
  );
  return { status: answer.status, body: answer.body, stored: rows.length };
}

describe('a body that can be read in one way only', () => {
  test.each([
    ['a byte order mark', `\uFEFF${withAmount('1500')}`, 1_500],
    ['an amount with an exponent', withAmount('1.5e3'), 1_500],
    ['an amount with zero cents', withAmount('1500.0'), 1_500],
    ['a key twice: the last one', `{"amount":1,${CUSTOMER},"amount":1500}`, 1_500],
    ['an escaped name', `{"\\u0061mount":1500,${CUSTOMER}}`, 1_500],
    [
      'names that objects have, which no field has',
      `{"__proto__":{"amount":1},"constructor":1,"toString":2,"id":"x","status":"paid",${withAmount('1500').slice(1)}`,
      1_500,
    ],
  ])('is taken: %s', async (_name, text, amount) => {
    const answer = await create(text);
    expect([answer.status, answer.body.amount, answer.body.status]).toEqual([
      201,
      amount,
      'pending',
    ]);
    expect(answer.stored).toBe(1);
  });
});

describe('any other body is refused by name, and nothing is stored', () => {
  test.each<[string, string | Buffer, string, string[]]>([
    ['2^53', withAmount('9007199254740992'), 'VALIDATION_ERROR', ['amount']],
    ['beyond 2^53', withAmount('9007199254740993'), 'VALIDATION_ERROR', ['amount']],
    ['beyond all numbers', withAmount('1e400'), 'VALIDATION_ERROR', ['amount']],
    ['below nothing', withAmount('-1e400'), 'VALIDATION_ERROR', ['amount']],
    ['not quite an integer', withAmount('1500.5'), 'VALIDATION_ERROR', ['amount']],
    ['minus nothing', withAmount('-0'), 'AMOUNT_BELOW_MINIMUM', []],
    ['no number of JSON', withAmount('NaN'), 'VALIDATION_ERROR', ['body']],
    ['a number with leading zeros', withAmount('01500'), 'VALIDATION_ERROR', ['body']],
    ['a NUL byte', withAmount('1500\0'), 'VALIDATION_ERROR', ['body']],
    ['two values', `${withAmount('1500')}{}`, 'VALIDATION_ERROR', ['body']],
    ['a comma too many', `{"amount":1500,${CUSTOMER},}`, 'VALIDATION_ERROR', ['body']],
    ['an object inside an array', `[${withAmount('1500')}]`, 'VALIDATION_ERROR', ['body']],
    [
      'seventeen levels in an unknown field',
      `{"x":${'['.repeat(16)}${']'.repeat(16)},${withAmount('1500').slice(1)}`,
      'VALIDATION_ERROR',
      ['body'],
    ],
    [
      'bytes that are no UTF-8',
      Buffer.concat([Buffer.from('{"reference":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
      'VALIDATION_ERROR',
      ['body'],
    ],
    ['UTF-16', Buffer.from(withAmount('1500'), 'utf16le'), 'VALIDATION_ERROR', ['body']],
    [
      'a lone surrogate',
      `{"reference":"\\ud800",${withAmount('1500').slice(1)}`,
      'VALIDATION_ERROR',
      ['reference'],
    ],
    [
      'an escaped NUL',
      `{"description":"a\\u0000",${withAmount('1500').slice(1)}`,
      'VALIDATION_ERROR',
      ['description'],
    ],
  ])('%s', async (_name, text, code, details) => {
    const answer = await create(text);
    expect([answer.status, answer.body.code, answer.body.details]).toEqual([400, code, details]);
    expect(answer.stored).toBe(0);
  });
});
