import { readJsonBody } from '@pixmesh/http/json-request';
import { rawBody } from '@pixmesh/http/service-app';
import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyRequest } from 'fastify';

/** The text of the body where it is one JSON object, else what is wrong with it. */
export function readSentBody(
  request: FastifyRequest,
): { text: string; fault: null } | { text: 'null'; fault: AppError } {
  try {
    readJsonBody(request);
    return { text: new TextDecoder().decode(rawBody(request.body)), fault: null };
  } catch (error) {
    if (error instanceof AppError) return { text: 'null', fault: error };
    throw error;
  }
}

/**
 * The operator's text goes into the owner's body as it was sent. Written anew, numbers such as `1e20` would grow
 * beyond the owner's bound, and `1e400` would become null.
 */
export function wrapBody(text: string, envelope: object): Buffer {
  const fields = Object.entries(envelope).map(([name, value]) => [name, JSON.stringify(value)]);
  const parts = [...fields, ['body', text]].map(
    ([name, value]) => `${JSON.stringify(name)}:${value}`,
  );
  return Buffer.from(`{${parts.join(',')}}`);
}
