import { InspectedDeadLetter } from '@pixmesh/contracts/internal/dead-letters';
import { AppError } from '@pixmesh/kernel/app-error';
import { createLogger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance, LightMyRequestResponse as Response } from 'fastify';
import { describe, expect, test } from 'vitest';
import { anOperator } from '@pixmesh/testkit/test-callers';

import { registerDeadLetterRoutes } from './dead-letter-routes.ts';
import { createServiceApp } from './service-app.ts';

const ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a001';
const OTHER_ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a002';
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const LETTER = {
  id: ID,
  consumer: 'charges.ledger-events',
  topic: 'ledger.events.v1',
  partition: 2,
  offset: 9_007_199_254_740_993n,
  key: 'account-1',
  code: 'MESSAGE_INVALID',
  reason: 'undecodable value',
  createdAt: new Date(0),
  value: Buffer.from('secret'),
  headers: { secret: 'secret' } as Record<string, string>,
  replayedAt: null,
  dismissedAt: null,
  dismissedBy: null,
  dismissedReason: null,
};

test('a page of letters shows the cause and never the message', async () => {
  const pages: unknown[] = [];
  const app = appWith({
    list: async (page) => {
      pages.push(page);
      return [LETTER, { ...LETTER, id: OTHER_ID }];
    },
  });
  const answer = await app.inject({ url: `/internal/dead-letters?limit=1&starting_after=${ID}` });
  expect(pages).toEqual([{ status: 'open', limit: 2, startingAfter: ID }]);
  expect(answer.json()).toEqual({
    object: 'list',
    data: [
      {
        id: ID,
        object: 'dead_letter',
        status: 'open',
        consumer: 'charges.ledger-events',
        topic: 'ledger.events.v1',
        partition: 2,
        offset: '9007199254740993',
        key: 'account-1',
        code: 'MESSAGE_INVALID',
        reason: 'undecodable value',
        created_at: '1970-01-01T00:00:00.000Z',
        replayed_at: null,
        dismissed_at: null,
        dismissed_by: null,
        dismissed_reason: null,
      },
    ],
    has_more: true,
  });
});

test('a page that is just full says that it is the last', async () => {
  const app = appWith({ list: async () => [LETTER] });
  const answer = await app.inject({ url: '/internal/dead-letters?limit=1' });
  expect(answer.json()).toMatchObject({ data: [{ id: ID }], has_more: false });
});

test.each(['limit=0', 'limit=101', 'limit=x', 'limit=1&limit=2', 'starting_after=x'])(
  'a page asked for by %s is refused with the name of the parameter',
  async (query) => {
    const answer = await appWith({}).inject({ url: `/internal/dead-letters?${query}` });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ details: [query.split('=')[0]] });
  },
);

test('a letter that is inspected shows its message, with what no log shows redacted', async () => {
  const message = {
    event_id: ID,
    data: { amount: 500, customer: { name: 'Ana' }, items: [{ chave: 'ana@example.com' }] },
  };
  const value = Buffer.concat([Buffer.from([0, 0, 0, 0, 7]), Buffer.from(JSON.stringify(message))]);
  const headers = {
    type: 'charge.pix.paid',
    event_id: ID,
    traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`,
  };
  const app = appWith({ find: async () => ({ ...LETTER, value, headers }) });
  const answer = await app.inject({ url: `/internal/dead-letters/${ID}` });
  expect(InspectedDeadLetter.parse(answer.json())).toMatchObject({
    id: ID,
    status: 'open',
    type: 'charge.pix.paid',
    event_id: ID,
    trace_id: TRACE_ID,
    payload: {
      event_id: ID,
      data: { amount: 500, customer: '[redacted]', items: [{ chave: '[redacted]' }] },
    },
    payload_bytes: value.length,
  });
});

test.each([
  ['of a message', `00-${TRACE_ID}-00f067aa0ba902b7-01`, TRACE_ID],
  ['as it is stored, with the request', `00-${TRACE_ID}-00f067aa0ba902b7-01;${ID}`, TRACE_ID],
  ['of a request without a trace', `;${ID}`, null],
  ['that is none', 'a-b', null],
])('the trace of a letter is read from a context %s', async (_, traceparent, expected) => {
  const app = appWith({ find: async () => ({ ...LETTER, headers: { traceparent } }) });
  const answer = await app.inject({ url: `/internal/dead-letters/${ID}` });
  expect(answer.json()).toMatchObject({ trace_id: expected });
});

test.each([[Buffer.from([0xde, 0xad])], [null]])(
  'what cannot be decoded is not shown: %j',
  async (value) => {
    const app = appWith({ find: async () => ({ ...LETTER, value }) });
    const answer = await app.inject({ url: `/internal/dead-letters/${ID}` });
    expect(answer.json()).toMatchObject({ payload: null, payload_bytes: value?.length ?? 0 });
  },
);

describe('a dismissal', () => {
  const dismissed = { dismissedAt: new Date(1), dismissedBy: ID, dismissedReason: 'a duplicate' };

  test('is handed on with who asks and why', async () => {
    let isDone = false;
    const asked: unknown[] = [];
    const answer = await dismiss({
      find: async () => ({ ...LETTER, ...(isDone ? dismissed : {}) }),
      dismiss: async (...args) => {
        asked.push(args);
        return (isDone = true);
      },
    });
    expect(asked).toEqual([[ID, { operatorId: ID, reason: 'a duplicate' }]]);
    expect(answer.json()).toMatchObject({ status: 'dismissed', dismissed_reason: 'a duplicate' });
    expect(answer.headers).not.toHaveProperty('idempotent-replayed');
  });

  test('that is repeated is marked as a repeat', async () => {
    const answer = await dismiss({ find: async () => ({ ...LETTER, ...dismissed }) });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['idempotent-replayed']).toBe('true');
  });

  test('of a replayed letter is a conflict, of an unknown one a 404, whatever its body', async () => {
    const replayed = await dismiss({ find: async () => ({ ...LETTER, replayedAt: new Date(1) }) });
    expect(replayed.json()).toMatchObject({ code: 'CONFLICT', details: ['status'] });
    expect((await dismiss({}, '')).statusCode).toBe(404);
  });

  test.each(['', 'x'.repeat(501), 'a\0b'])('needs a reason: %#', async (reason) => {
    const answer = await dismiss({ find: async () => LETTER }, reason);
    expect(answer.json()).toMatchObject({ code: 'VALIDATION_ERROR', details: ['reason'] });
  });

  async function dismiss(deps: Parameters<typeof appWith>[0], reason = 'a duplicate') {
    const url = `/internal/dead-letters/${ID}/dismiss`;
    return await appWith(deps).inject({ method: 'POST', url, payload: { reason } });
  }
});

test('a replay answers that it happened', async () => {
  const answer = await replay(async () => true);
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({ id: ID, object: 'dead_letter', replayed: true });
});

test.each([
  ['unknown or replayed before', ID, answer(false), 404, 'NOT_FOUND', []],
  ['an ill-formed id', 'x', answer(true), 404, 'NOT_FOUND', []],
  ['refused again', ID, refuse('MESSAGE_INVALID'), 409, 'CONFLICT', ['MESSAGE_INVALID']],
  ['a dependency away', ID, refuse('DEPENDENCY_UNAVAILABLE'), 500, 'INTERNAL_ERROR', []],
] as const)('a replay that fails: %s', async (_what, id, outcome, status, code, details) => {
  const answer = await replay(outcome, id);
  expect(answer.statusCode).toBe(status);
  expect(answer.json()).toMatchObject({ code, details });
});

function appWith(deps: Partial<Parameters<typeof registerDeadLetterRoutes>[1]>): FastifyInstance {
  const app = createServiceApp({ logger: createLogger('test', 'silent'), listener: 'test' });
  app.decorateRequest('claims', null);
  app.addHook('onRequest', async (request) => {
    request.claims = anOperator(ID);
  });
  registerDeadLetterRoutes(app, {
    list: async () => [],
    find: async () => null,
    replay: async () => false,
    dismiss: async () => false,
    ...deps,
  });
  return app;
}

async function replay(outcome: () => Promise<boolean>, id: string = ID): Promise<Response> {
  const url = `/internal/dead-letters/${id}/replay`;
  return await appWith({ replay: outcome }).inject({ method: 'POST', url });
}

function answer(replayed: boolean): () => Promise<boolean> {
  return () => Promise.resolve(replayed);
}

function refuse(code: 'MESSAGE_INVALID' | 'DEPENDENCY_UNAVAILABLE'): () => Promise<boolean> {
  return () => Promise.reject(new AppError(code));
}
