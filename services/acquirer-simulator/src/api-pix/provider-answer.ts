import { toErrorAnswer } from '@pixmesh/http/error-reply';
import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyReply } from 'fastify';

import { apiPixError, JSON_TYPE, problemOfStatus, ProviderError } from './provider-error.ts';

/** What the provider says; a body of null is none, a string one of plain text. */
export type ProviderAnswer = { status: number; contentType?: string; body: object | string | null };

export function sendAnswer(reply: FastifyReply, answer: ProviderAnswer): FastifyReply {
  const { status, contentType = JSON_TYPE, body } = answer;
  if (body === null) return reply.code(status).send();
  if (typeof body === 'string') {
    return reply.code(status).type('text/plain; charset=utf-8').send(body);
  }
  return reply.code(status).type(contentType).send(JSON.stringify(body));
}

/** Every failure of a provider's route in the provider's own forms, never in the mesh's envelope. */
export function toProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const isAway = error instanceof AppError && error.code === 'DEPENDENCY_UNAVAILABLE';
  const status = isAway ? 503 : toErrorAnswer(error).status;
  return apiPixError(problemOfStatus(status), status);
}
