import fastify from 'fastify';
import { expect, test } from 'vitest';

import { checkAnswers } from './check-answers.ts';

test('every answer of an application that is built meanwhile is checked, of any route, and of no other application', async () => {
  const before = fastify();
  const answers = checkAnswers();
  await using app = fastify();
  answers.stopHooking();
  const after = fastify();
  for (const each of [before, app, after]) {
    each.get('/v2/cob/:txid', async (_request, reply) => await reply.send({ odd: true }));
    each.get('/control/clock', async (_request, reply) => await reply.send({ odd: true }));
  }
  await before.inject('/v2/cob/x');
  await after.inject('/v2/cob/x');
  await app.inject('/control/clock');
  expect(() => answers.rejectDeviations()).not.toThrow();
  await app.inject('/v2/cob/x');
  expect(() => answers.rejectDeviations()).toThrow(/GET \/v2\/cob\/\{txid\} 200: txid /);
});
