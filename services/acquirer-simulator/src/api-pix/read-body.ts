import { rawBody } from '@pixmesh/http/service-app';
import { parseJsonBody } from '@pixmesh/kernel/json-body';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';

import { apiPixError, type ProblemName } from './provider-error.ts';

/**
 * Reads a body by its schema. `problem` is what API Pix calls a broken body of that operation.
 * @throws ProviderError that names every broken field, none of their values
 */
export function readBody<Schema extends z.ZodType>(
  schema: Schema,
  request: FastifyRequest,
  problem: ProblemName = 'RequisicaoInvalida',
): z.output<Schema> {
  const body = parseJsonBody(rawBody(request.body));
  if (body.kind === 'invalid') {
    throw apiPixError(problem, 400, { detail: 'O corpo não é um objeto JSON.' });
  }
  return readShape(schema, body.value, problem);
}

/** @throws ProviderError `RequisicaoInvalida`, or the given problem */
export function readShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  problem: ProblemName = 'RequisicaoInvalida',
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const violacoes = result.error.issues.map((issue) => ({
    razao: issue.message,
    propriedade: issue.path.join('.'),
  }));
  throw apiPixError(problem, 400, { violacoes });
}
