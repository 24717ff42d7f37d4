import { expect, test } from 'vitest';

import { formatScale, parseScale, processName } from './scale.ts';

test('counts come in one option or in several, and the last one counts', () => {
  expect(parseScale([])).toEqual(new Map());
  const scale = parseScale(['gateway=2,ledger=3', 'webhook-dispatcher=4', 'gateway=1']);
  expect(Object.fromEntries(scale)).toEqual({ gateway: 1, ledger: 3, 'webhook-dispatcher': 4 });
  expect(parseScale([formatScale(scale)])).toEqual(scale);
});

test.each([
  ['charges', /takes NAME=N, not "charges"/],
  ['', /takes NAME=N/],
  ['=2', /takes NAME=N/],
  ['teller=2', /knows no service "teller"; there are: ledger, charges/],
  ['acquirer-simulator=2', /knows no service "acquirer-simulator"/],
  ['charges=', /charges takes a number from 1 to 16, not ""/],
  ['charges=0', /from 1 to 16, not "0"/],
  ['charges=1.5', /not "1.5"/],
  ['charges=-1', /not "-1"/],
  ['charges=17', /not "17"/],
  ['charges=two', /not "two"/],
])('"%s" is refused in one line', (text, message) => {
  expect(() => parseScale([text])).toThrow(message);
});

test('the first process has the name of its service, and others have their number behind it', () => {
  expect([1, 2, 3].map((number) => processName('charges', number))).toEqual([
    'charges',
    'charges-2',
    'charges-3',
  ]);
});
