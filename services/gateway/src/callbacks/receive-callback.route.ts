import { createHash, timingSafeEqual } from 'node:crypto';

import { rawBody } from '@pixmesh/http/service-app';
import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { countUnauthorized } from '#events.ts';

import { type CallbackDeps, receiveCallback } from './receive-callback.ts';

/** Acquirers add `/pix` to the registered address; some call it bare, when it is registered and after. */
const PATHS = ['/acquirer/:secret', '/acquirer/:secret/pix'] as const;

/** The secret in the address authenticates the acquirer, whether its certificate has or not (decision 211). */
export function registerReceiveCallback(
  app: FastifyInstance,
  deps: CallbackDeps & { secret: string },
): void {
  const expected = sha256(deps.secret);
  for (const path of PATHS) {
    app.post(path, {
      // Before the body is read.
      onRequest: async (request) => refuseStrangers(request, expected),
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        await receiveCallback(deps, rawBody(request.body));
        return reply.type('application/json; charset=utf-8').send('{}');
      },
    });
  }
}

/** Digests have one length, so the comparison tells nothing about the secret, not even its length. */
function refuseStrangers(request: FastifyRequest, expected: Buffer): void {
  const presented = sha256((request.params as { secret: string }).secret);
  if (timingSafeEqual(presented, expected)) return;
  countUnauthorized('callbacks');
  throw new AppError('UNAUTHORIZED');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
