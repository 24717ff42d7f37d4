import { readFileSync } from 'node:fs';

import { codePointLength } from '@pixmesh/kernel/text';
import { sampled } from '@pixmesh/testkit/long-runs';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  anEndpointBody,
  type EndpointsApi,
  type Json,
  startEndpointsApi,
} from '#test/start-endpoints-api.ts';

type Row = {
  id: string;
  url: string;
  at: 'write' | 'send';
  expect: 'accept' | 'refuse';
  why: string;
};

/** Above it the fault is one of shape (decision 163). */
const URL_LENGTH_MAX = 2048;

const file = new URL('../../../../packages/kernel/vectors/ssrf.json', import.meta.url);
const rows = (JSON.parse(readFileSync(file, 'utf8')) as Row[]).filter((row) => row.at === 'write');

const caller = aCaller();
let api: EndpointsApi;
let changed: Json;

beforeAll(async () => {
  api = await startEndpointsApi();
  changed = (await api.request(caller, 'POST /v1/webhooks', anEndpointBody())).body;
});
afterAll(() => api[Symbol.asyncDispose]());

test('the file has every row of the list', () => {
  expect(rows).toHaveLength(223);
  expect(rows.filter((row) => row.expect === 'refuse')).toHaveLength(170);
});

// All of them are read without a server in each run (`packages/kernel/src/public-url.test.ts`).
describe.each(sampled(rows, 60))('$id is to $expect ($why)', ({ url, expect: expected }) => {
  test('at creation', async () => {
    // Each under an application of its own: the number of endpoints is bounded.
    const answer = await api.request(aCaller(), 'POST /v1/webhooks', anEndpointBody({ url }));
    compareAnswer(answer, { status: 201, url, expected });
  });

  test('at a change, which a refusal leaves undone', async () => {
    const answer = await api.request(caller, `PATCH /v1/webhooks/${changed.id}`, { url });
    compareAnswer(answer, { status: 200, url, expected });
    if (expected === 'accept') changed = answer.body;
    const list = await api.request(caller, 'GET /v1/webhooks');
    expect(list.body.data).toEqual([changed]);
  });
});

function compareAnswer(
  answer: { status: number; body: Json },
  row: { status: number; url: string; expected: Row['expect'] },
): void {
  if (row.expected === 'accept') {
    expect([answer.status, answer.body.url]).toEqual([row.status, row.url]);
    return;
  }
  const isTooLong = codePointLength(row.url) > URL_LENGTH_MAX;
  expect([answer.status, answer.body.code, answer.body.details]).toEqual([
    isTooLong ? 400 : 422,
    isTooLong ? 'VALIDATION_ERROR' : 'INVALID_WEBHOOK_URL',
    ['url'],
  ]);
}
