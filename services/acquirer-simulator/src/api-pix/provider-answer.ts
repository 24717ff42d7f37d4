import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyReply } from 'fastify';

import { apiPixError, ProviderError } from './provider-error.ts';

/** A success of the provider, before any fault touches it; null where it says nothing. */
export type ProviderAnswer = { status: number; body: object | null };

const JSON_TYPE = 'application/json; charset=utf-8';

export function sendAnswer(reply: FastifyReply, answer: ProviderAnswer): FastifyReply {
  if (answer.body === null) return reply.code(answer.status).send();
  return reply.code(answer.status).type(JSON_TYPE).send(JSON.stringify(answer.body));
}

export function sendProviderError(reply: FastifyReply, error: ProviderError): FastifyReply {
  return reply.code(error.status).type(error.contentType).send(JSON.stringify(error.body));
}

/** Every failure of a provider's route in the provider's own forms, never in the mesh's envelope. */
export function toProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  if (error instanceof AppError && error.code === 'DEPENDENCY_UNAVAILABLE') {
    return apiPixError('ServicoIndisponivel', 503);
  }
  const { statusCode } = error as { statusCode?: number };
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return apiPixError('RequisicaoInvalida', statusCode);
  }
  return apiPixError('ErroInternoDoServidor', 500);
}
