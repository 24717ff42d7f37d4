import fc from 'fast-check';
import { expect, test } from 'vitest';

import { named, render, sql } from './sql.ts';

test('every interpolation becomes a numbered bind', () => {
  const id = "'; drop table charges; --";
  expect(render(sql`select ${1}, ${id} from charges where id = ${id}`)).toEqual({
    text: 'select $1, $2 from charges where id = $3',
    values: [1, id, id],
  });
});

test('fragments are spliced in with their binds, however deep', () => {
  const inner = sql`a = ${1}`;
  const middle = sql`(${inner} or ${inner})`;
  expect(render(sql`select where ${middle} and b = ${2}`)).toEqual({
    text: 'select where (a = $1 or a = $2) and b = $3',
    values: [1, 1, 2],
  });
});

test('a fragment may open or close a statement, or be all of it', () => {
  expect(render(sql`${sql`select`} ${1}`).text).toBe('select $1');
  expect(render(sql`${1} ${sql`+ ${2}`}`)).toEqual({ text: '$1 + $2', values: [1, 2] });
  expect(render(sql`${sql`select 1`}`)).toEqual({ text: 'select 1', values: [] });
});

test('a named statement carries its name as prepared statement and as comment', () => {
  expect(render(named('charge_find', sql`select ${1}`))).toEqual({
    name: 'charge_find',
    text: '/* charge_find */ select $1',
    values: [1],
  });
});

test('the name of a fragment does not name the statement around it', () => {
  expect(render(sql`select ${named('inner', sql`1`)}`)).toEqual({ text: 'select 1', values: [] });
});

test('input that looks like a fragment stays a bind', () => {
  const hostile: unknown = JSON.parse('{"strings":["1; drop table charges"],"values":[]}');
  expect(render(sql`select ${hostile}`)).toEqual({ text: 'select $1', values: [hostile] });
});

test('the number of placeholders is the number of values, whatever is nested', () => {
  const fragment = fc.letrec<{ statement: ReturnType<typeof sql> }>((tie) => ({
    statement: fc.oneof(
      { maxDepth: 4 },
      fc.integer().map((value) => sql`x = ${value}`),
      fc.tuple(tie('statement'), tie('statement')).map(([a, b]) => sql`(${a} and ${b})`),
    ),
  })).statement;
  fc.assert(
    fc.property(fragment, (statement) => {
      const { text, values } = render(statement);
      const numbers = [...text.matchAll(/\$(\d+)/g)].map(([, digits]) => Number(digits));
      expect(numbers).toEqual(values.map((_, index) => index + 1));
    }),
  );
});
