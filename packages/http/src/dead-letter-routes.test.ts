import { AppError } from '@pixmesh/kernel/app-error';
import { createLogger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance, LightMyRequestResponse as Response } from 'fastify';
import { expect, test } from 'vitest';

import { registerDeadLetterRoutes } from './dead-letter-routes.ts';
import { createServiceApp } from './service-app.ts';

const ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a001';
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
  headers: { secret: 'secret' },
};

test('a page of letters shows the cause and never the message', async () => {
  const pages: unknown[] = [];
  const app = appWith({
    list: async (page) => {
      pages.push(page);
      return [LETTER];
    },
  });
  const answer = await app.inject({ url: `/internal/dead-letters?limit=1&starting_after=${ID}` });
  expect(pages).toEqual([{ limit: 1, startingAfter: ID }]);
  expect(answer.json()).toEqual({
    object: 'list',
    data: [
      {
        id: ID,
        object: 'dead_letter',
        consumer: 'charges.ledger-events',
        topic: 'ledger.events.v1',
        partition: 2,
        offset: '9007199254740993',
        key: 'account-1',
        code: 'MESSAGE_INVALID',
        reason: 'undecodable value',
        created_at: '1970-01-01T00:00:00.000Z',
      },
    ],
    has_more: true,
  });
});

test.each(['limit=0', 'limit=101', 'limit=x', 'limit=1&limit=2', 'starting_after=x'])(
  'a page asked for by %s is refused with the name of the parameter',
  async (query) => {
    const answer = await appWith({}).inject({ url: `/internal/dead-letters?${query}` });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ details: [query.split('=')[0]] });
  },
);

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
  registerDeadLetterRoutes(app, { list: async () => [], replay: async () => false, ...deps });
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
