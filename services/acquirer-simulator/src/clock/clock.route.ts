import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { conflict } from '#control/conflict.ts';
import { readControlBody } from '#control/read-control-body.ts';

import { OFFSET_SECONDS_MAX } from './clock.sql.ts';
import type { Clock } from './clock.ts';

const Seconds = z
  .int()
  .min(-2 * OFFSET_SECONDS_MAX)
  .max(2 * OFFSET_SECONDS_MAX);
const ClockBody = z.union([
  z.strictObject({ advance_seconds: Seconds }),
  z.strictObject({ reset: z.literal(true) }),
]);

type Deps = {
  clock: Clock;
  /** Notifies that something stored becomes due in that time. */
  expectDue: (inMs: number) => void;
};

/** `/control/clock`: the provider's own time. What a jump makes due happens at once. */
export function addClock(app: FastifyInstance, deps: Deps): void {
  app.get('/control/clock', async (_request, reply) => await reply.send(describe(deps.clock)));
  app.post('/control/clock', async (request, reply) => {
    const body = readControlBody(ClockBody, request.body);
    if ('reset' in body) await deps.clock.reset();
    else if (!(await deps.clock.advance(body.advance_seconds))) throw tooFar();
    deps.expectDue(0);
    return await reply.send(describe(deps.clock));
  });
  app.delete('/control/clock', async (_request, reply) => {
    await deps.clock.reset();
    deps.expectDue(0);
    return await reply.send(describe(deps.clock));
  });
}

function describe(clock: Clock): object {
  return { now: clock.now().toISOString(), offset_seconds: clock.offsetSeconds() };
}

function tooFar(): Error {
  return conflict(`The clock stays within ${OFFSET_SECONDS_MAX} seconds of the real time.`);
}
