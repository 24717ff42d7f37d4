import type { IncomingMessage } from 'node:http';

import { parseShape } from '@pixmesh/http/json-request';
import type { Queryable } from '@pixmesh/postgres/pool';
import { z } from 'zod';

import { readControlBody } from '#control/read-control-body.ts';
import { SequencePage, toList } from '#control/sequence-page.ts';

import { Behaviour } from './behaviour.ts';
import type { Behaviours } from './behaviours.ts';
import { deleteRequests, listRequests, type ReceivedRequest } from './receiver-requests.sql.ts';

export type ControlAnswer = { status: number; body?: object };

/** One path, with or without its leading slash. */
const PathFilter = z.object({
  path: z
    .string()
    .transform((path) => (path.startsWith('/') ? path : `/${path}`))
    .optional(),
});
const BEHAVIOUR_PREFIX = '/behaviour/';

type Deps = { db: Queryable; behaviours: Behaviours };

/**
 * Answers the receiver's own calls (`GET` and `DELETE /requests`, `PUT /behaviour/{path}`), or null when the
 * request is one to be recorded.
 */
export async function answerControl(
  deps: Deps,
  request: IncomingMessage,
  body: Buffer,
): Promise<ControlAnswer | null> {
  const url = new URL(request.url ?? '/', 'http://receiver');
  const query = Object.fromEntries(url.searchParams);
  if (url.pathname === '/requests' && request.method === 'GET') return await list(deps.db, query);
  if (url.pathname === '/requests' && request.method === 'DELETE') {
    const { path = null } = parseShape(PathFilter, query);
    await deleteRequests(deps.db, { path, upTo: Number.MAX_SAFE_INTEGER });
    return { status: 204 };
  }
  if (url.pathname.startsWith(BEHAVIOUR_PREFIX) && request.method === 'PUT') {
    const path = behaviourPath(url.pathname.slice(BEHAVIOUR_PREFIX.length - 1));
    const behaviour = readControlBody(Behaviour, body);
    await deps.behaviours.set(path, behaviour);
    return { status: 200, body: behaviour };
  }
  return null;
}

/** A path as behaviours are kept under: decoded, one leading slash, no query. */
export function behaviourPath(path: string): string {
  const pathname = path.split('?', 1)[0] ?? '';
  return `/${decode(pathname).replace(/^\/+/, '')}`;
}

async function list(db: Queryable, query: Record<string, string>): Promise<ControlAnswer> {
  const page = parseShape(SequencePage.extend(PathFilter.shape), query);
  const requests = await listRequests(db, { ...page, path: page.path ?? null });
  return { status: 200, body: toList(requests.map(toResource), page.limit) };
}

function toResource(request: ReceivedRequest): object {
  return {
    sequence: request.sequence,
    method: request.method,
    host: request.host,
    path: request.path,
    headers: request.headers,
    body: request.body.toString('utf8'),
    body_base64: request.body.toString('base64'),
    received_at: request.receivedAt.toISOString(),
    answered_status: request.answeredStatus,
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
