import { createHash, timingSafeEqual } from 'node:crypto';

import { JSON_TYPE } from '@pixmesh/http/json-type';
import { rawBody } from '@pixmesh/http/service-app';
import { AppError } from '@pixmesh/kernel/app-error';
import { acceptedValues, type RotatableSecret } from '@pixmesh/service/rotatable-secret';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { keepConnection } from '#edge/idle-connections.ts';
import { countUnauthorized } from '#reports.ts';

import { type CallbackDeps, receiveCallback } from './receive-callback.ts';

/** Acquirers add `/pix` to the registered address; some call it bare, when it is registered and after. */
const PATHS = ['/acquirer/:secret', '/acquirer/:secret/pix'] as const;

/**
 * One of the secrets in the address authenticates the acquirer, whether its certificate has or not (decisions 211,
 * 261).
 */
export function registerReceiveCallback(
  app: FastifyInstance,
  deps: CallbackDeps & { secrets: RotatableSecret<string> },
): void {
  const expected = acceptedValues(deps.secrets).map(sha256);
  for (const path of PATHS) {
    app.post(path, {
      // Before the body is read.
      onRequest: async (request) => {
        refuseStrangers(request, expected);
        keepConnection(request);
      },
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        await receiveCallback(deps, rawBody(request.body));
        return reply.type(JSON_TYPE).send('{}');
      },
    });
  }
}

/** Digests have one length, so a comparison tells nothing about a secret, not even its length; each is made. */
function refuseStrangers(request: FastifyRequest, expected: readonly Buffer[]): void {
  const presented = sha256((request.params as { secret: string }).secret);
  const isOne = expected.map((digest) => timingSafeEqual(presented, digest));
  if (isOne.includes(true)) return;
  countUnauthorized('callbacks');
  throw new AppError('UNAUTHORIZED');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
