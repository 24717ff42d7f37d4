import { randomUUID } from 'node:crypto';

import type { Claims } from '@pixmesh/contracts/internal/caller-claims';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { type Answer, sendRequest } from '#test/send-request.ts';
import { answerJson } from '#test/start-fake-owner.ts';
import { startTestGateway, type Tenant, type TestGateway } from '#test/start-test-gateway.ts';

/** Parallel creations of one merchant at an acquirer that takes its time. */
const CREATIONS = 250;
/** Beyond what one account may have under way and waiting. */
const READS = 1_200;
const READS_UNDER_WAY = 64;
/** Of a read that the owner answers at once. */
const ANSWERED_PATH = `/v1/charges/${randomUUID()}`;
const PATIENT_MS = 60_000;

let gateway: TestGateway;
let aggressor: Tenant;
let victim: Tenant;
/** Answers of the owner that are still to be given, by the target of their requests. */
let held: { url: string; answer: () => void }[] = [];

beforeAll(async () => {
  // What is held here is held for long; a busy machine takes seconds to send so many.
  gateway = await startTestGateway({ REQUEST_TIMEOUT_MS: String(PATIENT_MS) });
  [aggressor, victim] = [await gateway.createTenant(), await gateway.createTenant()];
  gateway.owners.charges.answerWith((response, { url }) => {
    const one = { url, answer: () => answerJson(response, 200, { body: { object: 'charge' } }) };
    if (url === ANSWERED_PATH) return one.answer();
    held.push(one);
    // A read without an answer is made again: the one before it has ended then.
    response.on('close', () => {
      held = held.filter((other) => other !== one);
    });
  });
});
afterAll(() => gateway[Symbol.asyncDispose]());
afterEach(() => {
  gateway.owners.charges.requests.length = 0;
  held = [];
});

function create(tenant: Tenant): Promise<Answer> {
  const headers = ['x-api-key', tenant.key, 'idempotency-key', randomUUID()];
  const call = { method: 'POST', path: '/v1/charges', body: '{}' };
  return sendRequest({ port: gateway.ports.public, ...call, headers });
}

function read(tenant: Tenant, path = '/v1/charges'): Promise<Answer> {
  return gateway.request(tenant.key, 'GET', path);
}

/** Of the merchant's request that a call was made for, once or again. */
function requestIdOf({ claims }: { claims: Claims | null }): string | null {
  return claims !== null && 'tenant' in claims ? claims.tenant.request_id : null;
}

async function answerAll(calls: readonly Promise<Answer>[]): Promise<Answer[]> {
  let isOver = false;
  const answers = Promise.all(calls).finally(() => {
    isOver = true;
  });
  await eventually(() => {
    for (const { answer } of held.splice(0)) answer();
    expect(isOver).toBe(true);
  }, PATIENT_MS);
  return await answers;
}

test(
  'beside 250 creations that their owner does not answer, another account’s calls reach it at once',
  async () => {
    const crowd = Array.from({ length: CREATIONS }, () => create(aggressor));
    await eventually(() => expect(held).toHaveLength(CREATIONS), PATIENT_MS);
    const own = [create(victim), read(victim)];
    await eventually(() => expect(held).toHaveLength(CREATIONS + 2));
    const answers = await answerAll([...crowd, ...own]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  },
  2 * PATIENT_MS,
);

test(
  'an account with too much in flight gets 429, its owner never sees that, and another account has a place at once',
  async () => {
    const refused: Answer[] = [];
    const crowd = Array.from({ length: READS }, async () => {
      const answer = await read(aggressor);
      if (answer.status === 429) refused.push(answer);
      return answer;
    });
    await eventually(() => expect(refused).not.toEqual([]), PATIENT_MS);
    await eventually(() => expect(held).toHaveLength(READS_UNDER_WAY), PATIENT_MS);
    // Nothing of the first account has ended, and a thousand of it wait.
    expect((await read(victim, ANSWERED_PATH)).status).toBe(200);
    const answers = await answerAll(crowd);
    const served = answers.filter(({ status }) => status === 200).length;
    expect(served + refused.length).toBe(READS);
    const asked = new Set(gateway.owners.charges.requests.map(requestIdOf));
    expect(asked.size).toBe(served + 1);
    for (const { json, headers } of refused) {
      expect(json).toEqual({
        code: 'RATE_LIMITED',
        message: expect.stringContaining('Retry-After'),
        details: [],
      });
      expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
    }
  },
  2 * PATIENT_MS,
);
