import { rawBody } from '@pixmesh/http/service-app';
import { parseJsonBody } from '@pixmesh/kernel/json-body';
import { isPlainText } from '@pixmesh/kernel/text';
import type { FastifyRequest } from 'fastify';

const BACKSLASH = 0x5c;
const DELETE = 0x7f;

/**
 * Whether no text of the request holds a control character or a lone surrogate: Postgres refuses NUL, and nothing that
 * API Pix describes needs the others. A body that is no JSON is left to whoever reads it.
 */
export function isPlainRequest(request: FastifyRequest): boolean {
  return isPlain(request.params) && isPlain(request.query) && isPlainBody(rawBody(request.body));
}

/** The same of a body alone. In JSON a control character is an escape, apart from DEL. */
export function isPlainBody(bytes: Buffer): boolean {
  if (!bytes.includes(BACKSLASH) && !bytes.includes(DELETE)) return true;
  const body = parseJsonBody(bytes);
  return body.kind === 'invalid' || isPlain(body.value);
}

/** Depth is bounded by `parseJsonBody`. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'string') return isPlainText(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, item]) => isPlainText(name) && isPlain(item));
}
