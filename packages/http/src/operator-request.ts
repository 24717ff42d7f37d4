import { JSON_DEPTH_MAX, parseJsonBody } from '@pixmesh/kernel/json-body';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';

import { BODY_FAULT, parseShape } from './json-request.ts';
import { invalidRequest } from './refusal.ts';
import { BODY_BYTES_MAX, rawBody } from './service-app.ts';

/** The gateway wraps a body of the size that anybody may send: the same, and room for the settings. */
export const WRAPPED_BYTES_MAX = BODY_BYTES_MAX + 4 * 1024;

/**
 * A body in which the operator's own stands one level deeper than it was sent; the gateway has counted its levels.
 * @throws AppError `VALIDATION_ERROR`
 */
export function readWrappedBody<Schema extends z.ZodType>(
  schema: Schema,
  request: FastifyRequest,
): z.output<Schema> {
  const json = parseJsonBody(rawBody(request.body), JSON_DEPTH_MAX + 1);
  if (json.kind === 'invalid') throw invalidRequest(BODY_FAULT);
  return parseShape(schema, json.value);
}

/**
 * The operator's object out of a wrapped body, for whoever checks it after the look-up of its id (decision 253).
 * @throws AppError `VALIDATION_ERROR` where the gateway could not read one
 */
export function requireSent(body: Record<string, unknown> | null): Record<string, unknown> {
  if (body !== null) return body;
  throw invalidRequest(BODY_FAULT);
}
