import { NoTurnError, type NoTurnReason } from '@pixmesh/fair-share/no-turn-error';
import { sendError } from '@pixmesh/http/error-reply';
import { AppError } from '@pixmesh/kernel/app-error';
import fastify from 'fastify';
import { expect, test } from 'vitest';

import { refuseWithoutTurn } from './refuse-for-now.ts';

async function answerTo(error: unknown) {
  const app = fastify();
  app.setErrorHandler((thrown, _request, reply) => sendError(reply, thrown));
  app.get('/', async (_request, reply) => {
    await refuseWithoutTurn(reply, async () => {
      throw error;
    });
  });
  return await app.inject('/');
}

/** As it comes from the gateway's own queue, and from a client of another service. */
function withoutTurn(reason: NoTurnReason): Error[] {
  const cause = new NoTurnError('charges reads', reason, 1_200);
  return [cause, new AppError('DEPENDENCY_UNAVAILABLE', { message: 'not called', cause })];
}

test.each<[NoTurnReason, string]>([
  ['full', 'Too many requests'],
  ['late', 'no turn in time'],
])(
  'a request without a turn (%s) gets 429, which says so and when to come back',
  async (reason, message) => {
    for (const error of withoutTurn(reason)) {
      const { statusCode, headers, json } = await answerTo(error);
      expect([statusCode, json().code, headers['retry-after']]).toEqual([429, 'RATE_LIMITED', '2']);
      expect(json().message).toContain(message);
    }
  },
);

test('a request whose client has left is not refused for now', async () => {
  for (const error of withoutTurn('aborted')) {
    const { statusCode, headers, json } = await answerTo(error);
    expect([statusCode, json().code]).toEqual([500, 'INTERNAL_ERROR']);
    expect(headers).not.toHaveProperty('retry-after');
  }
});
