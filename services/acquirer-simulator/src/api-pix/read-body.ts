import { rawBody } from '@pixmesh/http/service-app';
import { parseJsonBody } from '@pixmesh/kernel/json-body';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';

import { apiPixError } from './provider-error.ts';

/**
 * Reads a body by its schema.
 * @throws ProviderError `RequisicaoInvalida` that names every broken field, none of their values
 */
export function readBody<Schema extends z.ZodType>(
  schema: Schema,
  request: FastifyRequest,
): z.output<Schema> {
  const body = parseJsonBody(rawBody(request.body));
  if (body.kind === 'invalid') {
    throw apiPixError('RequisicaoInvalida', 400, { detail: 'O corpo não é um objeto JSON.' });
  }
  return readShape(schema, body.value);
}

/** @throws ProviderError `RequisicaoInvalida` */
export function readShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const violacoes = result.error.issues.map((issue) => ({
    razao: issue.message,
    propriedade: issue.path.join('.'),
  }));
  throw apiPixError('RequisicaoInvalida', 400, { violacoes });
}
