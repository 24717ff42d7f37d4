import { parseAmountText } from '@pixmesh/acquirer/amount-text';
import { rawBody } from '@pixmesh/http/service-app';
import { parseJsonBody } from '@pixmesh/kernel/json-body';
import type { FastifyRequest } from 'fastify';

/** The amount that a refused request names, however broken the rest of it is. */
export function readRefusedAmount(
  request: FastifyRequest,
  find: (body: Record<string, unknown>) => unknown,
): bigint | null {
  const body = parseJsonBody(rawBody(request.body));
  const text = body.kind === 'ok' ? find(body.value) : null;
  return typeof text === 'string' ? parseAmountText(text) : null;
}
