import { arbitraryOf } from '@pixmesh/acquirer/testing/arbitrary-of';
import { ChargeRequest } from '@pixmesh/acquirer/testing/api-pix-shapes';
import { API_PIX, EFI, type Operation } from '@pixmesh/acquirer/testing/operations';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { testSeed } from '@pixmesh/testkit/test-seed';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  aCharge,
  aPaidCharge,
  startTestSimulator,
  TEST_ACCOUNT,
  type TestSimulator,
} from '#test/test-simulator.ts';

const CALLS = scaled(150, 20_000);
const CHARGES = scaled(50, 5_000);
const TIMEOUT_MS = scaled(60_000, 1_800_000);

let database: TestDatabase;
let simulator: TestSimulator;
let headers: { authorization: string };
let known: { txid: string; endToEndId: string };

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  headers = { authorization: `Bearer ${await simulator.token()}` };
  known = await aPaidCharge(simulator);
});

afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** What nobody should have to expect in place of a field. */
const hostile = fc.oneof(
  fc.constantFrom<unknown[]>(
    null,
    true,
    0,
    -1,
    1.5,
    1e308,
    '',
    ' ',
    '\0',
    'a\u007f',
    '\ud800',
    'é',
  ),
  fc.constantFrom<unknown[]>([], {}, [[]], { '\0': 1 }, { __proto__: null }, 'x'.repeat(300)),
  fc.constantFrom('0.00', '9999999999.99', '99999999999.99', '1.0', '1,00', '٣.٠٠', '-1.00'),
  fc.constantFrom('0000-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59', '2020-02-30T00:00:00Z'),
  fc.jsonValue({ maxDepth: 3 }),
);

/** One field of a body, however deep, in another form, gone, or beside one that nobody knows. */
function withFault(body: unknown): fc.Arbitrary<unknown> {
  if (typeof body !== 'object' || body === null) return hostile;
  const names = Object.keys(body);
  const added = fc.tuple(fc.string(), hostile).map(([name, value]) => ({ ...body, [name]: value }));
  if (names.length === 0) return added;
  const record = body as Record<string, unknown>;
  const changed = fc
    .constantFrom(...names)
    .chain((name) => withFault(record[name]).map((value) => ({ ...record, [name]: value })));
  const without = fc
    .constantFrom(...names)
    .map((name) => Object.fromEntries(Object.entries(record).filter(([other]) => other !== name)));
  return fc.oneof({ weight: 4, arbitrary: changed }, added, without);
}

/** As the schema has it, or with a fault. */
function bodiesOf(schema: Operation['request']): fc.Arbitrary<unknown> {
  if (schema === undefined) return fc.constant(undefined);
  const valid = arbitraryOf(schema).map(withOwnKey);
  return fc.oneof(valid, valid.chain(withFault), hostile);
}

/** The account's own key, or every order would end at that. */
function withOwnKey(body: unknown): unknown {
  const { chave, pagador, ...rest } = body as Record<string, unknown>;
  return {
    ...rest,
    ...(chave !== undefined && { chave: TEST_ACCOUNT.pixKey }),
    ...(pagador !== undefined && {
      pagador: { ...(pagador as object), chave: TEST_ACCOUNT.pixKey },
    }),
  };
}

const ids = fc.oneof(
  fc.stringMatching(/^[a-zA-Z0-9]{1,36}$/),
  fc.constantFrom('%00', '%0a', '%zz', '%E0', '..', '%2F', '%F0%9F%98%80', 'x'.repeat(400)),
);

function callsOf([name, operation]: [string, Operation]) {
  const query = operation.query === undefined ? fc.constant({}) : arbitraryOf(operation.query);
  return fc.record({
    name: fc.constant(name),
    ids: fc.array(ids, { minLength: 2, maxLength: 2 }),
    useKnown: fc.boolean(),
    query: fc.oneof(query, query.chain(withFault)),
    body: bodiesOf(operation.request),
  });
}

const calls = fc.oneof(...Object.entries({ ...API_PIX, ...EFI }).map(callsOf));

type Call = typeof calls extends fc.Arbitrary<infer T> ? T : never;

function pathOf(call: Call): string {
  const [, template = ''] = call.name.split(' ');
  const facts: Record<string, string> = {
    ...known,
    e2eid: known.endToEndId,
    chave: TEST_ACCOUNT.pixKey,
  };
  let used = 0;
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const made = call.ids[used++] ?? '';
    return (call.useKnown ? facts[name] : undefined) ?? made;
  });
}

function queryOf(query: unknown): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    params.append(name.toWellFormed(), text.toWellFormed());
  }
  return params.size === 0 ? '' : `?${params.toString()}`;
}

test(
  `${CALLS} calls made up from the schemas are answered as they say, and none by a failure`,
  async () => {
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(calls, async (call) => {
        const [method = ''] = call.name.split(' ');
        const body =
          method === 'GET' || method === 'DELETE' ? undefined : JSON.stringify(call.body);
        const answer = await fetch(`${simulator.url}${pathOf(call)}${queryOf(call.query)}`, {
          method,
          headers,
          ...(body !== undefined && { body }),
        });
        await answer.arrayBuffer();
        statuses.add(answer.status);
        expect(answer.status).toBeLessThan(500);
      }),
      { numRuns: CALLS, seed: testSeed() },
    );
    // Checked by the simulator under test at its end; here that calls came through.
    expect([...statuses]).toEqual(expect.arrayContaining([400, 404]));
    expect(statuses.size).toBeGreaterThan(3);
  },
  TIMEOUT_MS,
);

test(
  'every charge that the schema allows is issued',
  async () => {
    const bodies = arbitraryOf(ChargeRequest).map(withOwnKey);
    await fc.assert(
      fc.asyncProperty(bodies, fc.integer({ min: 1, max: 9 }), async (body, reais) => {
        const { txid } = aCharge();
        const original = `${reais}.00`;
        const answer = await fetch(`${simulator.url}/v2/cob/${txid}`, {
          method: 'PUT',
          headers,
          body: JSON.stringify({ ...(body as object), valor: { original } }),
        });
        expect(await answer.json()).toMatchObject({ txid, valor: { original } });
      }),
      { numRuns: CHARGES, seed: testSeed() },
    );
  },
  TIMEOUT_MS,
);
