import { COMPARE_APPLICATIONS_PATH } from '@pixmesh/contracts/internal/compare-applications';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { answerJson, type FakeOwner } from '#test/start-fake-owner.ts';
import { startTestGateway, type TestGateway, forOperator } from '#test/start-test-gateway.ts';

const SERVICES = ['ledger', 'payouts', 'charges', 'webhook-dispatcher'] as const;
/** Of the gateway's own records. */
const OWN_CHECKS = ['application', 'outbox', 'dead_letter'];
const REQUEST_TIMEOUT_MS = 3_000;
const RECONCILIATION_TIMEOUT_MS = 10_000;
const CHECKED_AT = '2026-11-21T11:00:00.000Z';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({
    REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS),
    RECONCILIATION_TIMEOUT_MS: String(RECONCILIATION_TIMEOUT_MS),
    RECONCILIATION_MS: '3600000',
  });
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  for (const service of SERVICES) {
    ownerOf(service).requests.length = 0;
    report(ownerOf(service), service);
  }
});

function ownerOf(service: (typeof SERVICES)[number]): FakeOwner {
  return gateway.owners[service === 'webhook-dispatcher' ? 'dispatcher' : service];
}

/** Requests for the owner's report; the gateway's own checks ask other things. */
function askedForReports(service: (typeof SERVICES)[number]) {
  return ownerOf(service).requests.filter(({ url }) => url === '/internal/reconciliation');
}

function report(owner: FakeOwner, service: string, delayMs = 0): void {
  const checks = [{ name: `of_${service}`, compared: 4, breaks: [] }];
  const body = { service, checked_at: CHECKED_AT, checks };
  owner.answerWith((response, { url }) => {
    if (url === COMPARE_APPLICATIONS_PATH) answerJson(response, 200, { body: { behind: [] } });
    else setTimeout(() => answerJson(response, 200, { body }), delayMs);
  });
}

describe('the report of reconciliation', () => {
  test('joins what each service says of itself', async () => {
    // The gateway's own part exists from its first run on.
    await gateway.admin('POST', '/admin/reconciliation');
    for (const service of SERVICES) ownerOf(service).requests.length = 0;
    const answer = await gateway.admin('GET', '/admin/reconciliation');
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      object: 'reconciliation',
      checked_at: CHECKED_AT,
      breaks: 0,
      checks: [
        ...SERVICES.map((service) => ({ name: `of_${service}`, compared: 4, breaks: [] })),
        ...OWN_CHECKS.map((name) => ({ name, compared: expect.any(Number) as number, breaks: [] })),
      ],
      full_runs: [],
    });
    for (const service of SERVICES) {
      const [request, ...others] = askedForReports(service);
      expect(others).toEqual([]);
      expect(request).toMatchObject({ method: 'GET', url: '/internal/reconciliation' });
      expect(request?.claims).toEqual(forOperator());
    }
  });

  test.each([
    { name: 'breaks off', answer: (owner: FakeOwner) => owner.answerWith((r) => r.destroy()) },
    { name: 'is too late', answer: (owner: FakeOwner) => owner.answerWith(() => undefined) },
    {
      name: 'fails',
      answer: (owner: FakeOwner) => owner.answerWith((r) => answerJson(r, 500, { body: {} })),
    },
    {
      name: 'has no such route',
      answer: (owner: FakeOwner) => owner.answerWith((r) => answerJson(r, 404, { body: {} })),
    },
    {
      name: 'says something else',
      answer: (owner: FakeOwner) => owner.answerWith((r) => answerJson(r, 200, { body: {} })),
    },
  ])('shows a service as unavailable that $name', async ({ answer }) => {
    answer(gateway.owners.payouts);
    const joined = await gateway.admin('GET', '/admin/reconciliation');
    expect(joined).toMatchObject({
      status: 200,
      json: {
        breaks: 1,
        checks: [
          { name: 'of_ledger' },
          { name: 'payouts', compared: 0, breaks: [{ kind: 'unavailable', id: 'payouts' }] },
          { name: 'of_charges' },
          { name: 'of_webhook-dispatcher' },
          ...OWN_CHECKS.map((name) => ({ name })),
        ],
      },
    });
  });
});

describe('a run that an operator asks for', () => {
  test.each([
    { body: undefined, full: false },
    { body: {}, full: false },
    { body: { full: false }, full: false },
    { body: { full: true }, full: true },
  ])('happens in every service and is recorded: $body', async ({ body, full }) => {
    const answer = await gateway.admin('POST', '/admin/reconciliation', { body });
    expect(answer).toMatchObject({ status: 200, json: { object: 'reconciliation', breaks: 0 } });
    for (const service of SERVICES) {
      expect(askedForReports(service)).toMatchObject([
        { method: 'POST', url: '/internal/reconciliation', body: Buffer.from(`{"full":${full}}`) },
      ]);
    }
    const target = full ? 'full' : 'incremental';
    const audit = await gateway.admin('GET', `/admin/audit?target_id=${target}&limit=1`);
    expect(audit.json['data']).toMatchObject([
      { action: 'reconciliation.run_requested', target_kind: 'reconciliation', actor: 'bootstrap' },
    ]);
  });

  test('may take longer than a question', async () => {
    report(gateway.owners.ledger, 'ledger', REQUEST_TIMEOUT_MS + 500);
    const answer = await gateway.admin('POST', '/admin/reconciliation');
    expect(answer.json).toMatchObject({ breaks: 0 });
    const waitMs = Number(gateway.owners.ledger.requests[0]?.headers['x-pixmesh-timeout-ms']);
    expect(waitMs).toBeGreaterThan(REQUEST_TIMEOUT_MS);
  });

  test.each([{ full: 'yes' }, { full: 1 }])('is not %j', async (body) => {
    const answer = await gateway.admin('POST', '/admin/reconciliation', { body });
    expect(answer.json).toMatchObject({ code: 'VALIDATION_ERROR', details: ['full'] });
    expect(gateway.owners.ledger.requests).toEqual([]);
  });
});
