import http from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { ALL_CASES } from '../cases/all-cases.ts';
import { createWorld } from '../world/world.ts';
import { type Case, section, unobservable, it } from './case.ts';
import { equal } from '../client/expectations.ts';
import { formatReport } from './print-report.ts';
import { type Result, runSuite } from './run-suite.ts';
import { summarize } from './summarize.ts';

const KEY = 'pmk_0123456789abcdefghijklmnopqrstuvwxyz';

type Reply = { status: number; body: unknown };

/** An installation that answers everything in one way. */
async function aServer(answer: (request: http.IncomingMessage) => Reply): Promise<string> {
  const server = http.createServer((request, response) => {
    const { status, body } = answer(request);
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 204 ? undefined : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function runAgainst(url: string, cases: readonly Case[]): Promise<Result[]> {
  const world = await createWorld({
    url,
    key: KEY,
    admin: null,
    simulatorUrl: null,
    receiver: null,
    patience: false,
  });
  onTestFinished(() => world.close());
  return await runSuite(world, cases);
}

function outcomesOf(results: readonly Result[]): Record<string, string> {
  return Object.fromEntries(results.map(({ case: one, outcome }) => [one.id, outcome.kind]));
}

const BALANCE = { object: 'balance', currency: 'BRL', available: 1, pending: 2, total: 3 };

const balanceCases = ALL_CASES.filter(({ section }) => section === 'balance');

test('an installation that answers as specified passes', async () => {
  const results = await runAgainst(
    await aServer(() => ({ status: 200, body: BALANCE })),
    balanceCases,
  );
  expect(outcomesOf(results)).toMatchObject({
    'balance.object': 'passed',
    'balance.currency': 'passed',
    'balance.total': 'passed',
  });
});

test.each([
  ['a missing field', { ...BALANCE, total: undefined }, 'balance.object'],
  ['a number as text', { ...BALANCE, pending: '2' }, 'balance.pending'],
  ['a fraction of a cent', { ...BALANCE, pending: 2.5 }, 'balance.pending'],
  ['a total that is none', { ...BALANCE, total: 4 }, 'balance.total'],
  ['another currency', { ...BALANCE, currency: 'USD' }, 'balance.currency'],
])('%s is caught', async (_name, body, id) => {
  const results = await runAgainst(await aServer(() => ({ status: 200, body })), balanceCases);
  expect(outcomesOf(results)[id]).toBe('failed');
});

test('an unknown field is no fault', async () => {
  const body = { ...BALANCE, blocked: 7 };
  const results = await runAgainst(await aServer(() => ({ status: 200, body })), balanceCases);
  expect(summarize(results).total.failed).toBe(0);
});

test(
  'an installation that agrees to everything passes almost nothing',
  { timeout: 60_000 },
  async () => {
    const url = await aServer(() => ({ status: 200, body: { object: 'list', data: [] } }));
    const { total } = summarize(await runAgainst(url, ALL_CASES));
    expect(total.failed).toBeGreaterThan(300);
    expect(total.passed).toBeLessThan(60);
  },
);

test('errors in another form are caught, whatever their status', async () => {
  const url = await aServer(() => ({ status: 401, body: { error: 'no' } }));
  const cases = ALL_CASES.filter(({ id }) => id.startsWith('authentication.missing'));
  expect(outcomesOf(await runAgainst(url, cases))).toEqual({ 'authentication.missing': 'failed' });
});

test('a case whose ability was not given is not run, and the summary says so', async () => {
  const run = () => Promise.reject(new Error('must not run'));
  const cases = section('errors', [it.admin('one', 'a sentence', run)]);
  const results = await runAgainst('http://127.0.0.1:1', cases).catch((error: unknown) => error);
  expect(results).toBeInstanceOf(Error);
  const url = await aServer(() => ({ status: 200, body: BALANCE }));
  const report = formatReport(await runAgainst(url, cases));
  expect(report).toContain('not run  errors.one (needs admin)');
  expect(report).toMatch(/0 passed, 0 failed, 1 not run$/);
});

test('the report has every section, what could not be seen, and no secret', async () => {
  const cases = [
    ...section('errors', [
      it('leak', 'a sentence', async (w) => equal(w.own.key, 'other', 'the key')),
    ]),
    ...section('signature', [unobservable('inside', 'another', 'nobody sees it')]),
  ];
  const url = await aServer(() => ({ status: 200, body: BALANCE }));
  const report = formatReport(await runAgainst(url, cases));
  expect(report).toContain('FAILED errors.leak: a sentence');
  expect(report).toContain('expected other');
  expect(report).toContain('[redacted]');
  expect(report).not.toContain(KEY);
  expect(report).toContain('Delivery and retry rules');
  expect(report).toContain('2 cases: 1 unobservable from outside');
  expect(report).toMatch(/0 passed, 1 failed, 0 not run$/);
});
