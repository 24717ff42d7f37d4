import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { InternalAnswer } from '@pixmesh/http/internal-client';

const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Statuses a client never sees from an owner: they speak of the mesh, not of the request. */
const STATUSES_OF_THE_MESH = new Set([401, 502, 503, 504]);

/** What goes on to the client: everything else that an owner sent stays inside. */
export type ForwardableAnswer = {
  status: number;
  replayed: boolean;
  mismatch: boolean;
  body: Buffer;
};

/**
 * Takes an owner's answer only when a client can read it: a known status and one JSON object, looked at by
 * its type and ends alone, since owners are our own and the body is not to be parsed twice. A 401 means that
 * our service token was refused, which is no fault of the client's key. Null is for decision 25.
 */
export function judgeAnswer({ status, headers, body }: InternalAnswer): ForwardableAnswer | null {
  const empty = body.length === 0;
  const readable = status === 204 ? empty : isJsonObject(headers['content-type'], body);
  if (!readable || status < 200 || status > 500 || isRedirect(status)) return null;
  if (STATUSES_OF_THE_MESH.has(status)) return null;
  return {
    status,
    replayed: headers[ANSWER_HEADERS.replayed] === 'true',
    mismatch: headers[ANSWER_HEADERS.mismatch] === 'true',
    body,
  };
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

function isJsonObject(contentType: string | string[] | undefined, body: Buffer): boolean {
  return (
    typeof contentType === 'string' &&
    contentType.startsWith('application/json') &&
    body[0] === OPENING_BRACE &&
    body.at(-1) === CLOSING_BRACE
  );
}
