import { rawBody } from '@pixmesh/http/service-app';
import { parseJsonBody } from '@pixmesh/kernel/json-body';
import { isPlainText } from '@pixmesh/kernel/text';
import type { FastifyRequest } from 'fastify';

type Accepts = (text: string) => boolean;

const BACKSLASH = 0x5c;
const DELETE = 0x7f;

/**
 * Whether no text of the request holds a control character or a lone surrogate: Postgres refuses NUL, and nothing that
 * API Pix describes needs the others. A body that is no JSON is left to the handler that reads it.
 */
export function isPlainRequest({ params, query, body }: FastifyRequest): boolean {
  return accepted({ params, query }, isPlainText) && isBodyOf(body, isPlainText);
}

/** Whether a body holds nothing that Postgres refuses: no NUL and no lone surrogate. */
export function isStorableBody(body: unknown): boolean {
  return isBodyOf(body, (text) => text.isWellFormed() && !text.includes('\0'));
}

/** In JSON a control character is an escape, apart from DEL. */
function isBodyOf(body: unknown, accepts: Accepts): boolean {
  const bytes = rawBody(body);
  if (!bytes.includes(BACKSLASH) && !bytes.includes(DELETE)) return true;
  const parsed = parseJsonBody(bytes);
  return parsed.kind === 'invalid' || accepted(parsed.value, accepts);
}

/** Depth is bounded by `parseJsonBody`. */
function accepted(value: unknown, accepts: Accepts): boolean {
  if (typeof value === 'string') return accepts(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, item]) => accepts(name) && accepted(item, accepts));
}
