import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import { markReplay } from '@pixmesh/http/answer-created';
import type { InternalAnswer } from '@pixmesh/http/internal-client';
import { JSON_TYPE } from '@pixmesh/http/json-type';
import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyReply } from 'fastify';

const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Statuses a client never gets from an owner: they concern the mesh, not the request. */
const STATUSES_OF_THE_MESH = new Set([401, 403, 502, 503, 504]);

/** What is forwarded to the client; everything else that an owner sent is dropped. */
export type ForwardableAnswer = {
  status: number;
  replayed: boolean;
  mismatch: boolean;
  body: Buffer;
};

/**
 * The answer of `service` as it may go on.
 * @throws AppError `INTERNAL_ERROR` for one that no client can read (decision 25)
 */
export function requireForwardable(service: string, answer: InternalAnswer): ForwardableAnswer {
  const forwardable = toForwardable(answer);
  if (forwardable !== null) return forwardable;
  throw new AppError('INTERNAL_ERROR', {
    message: `${service} answered ${answer.status} in a form that cannot be forwarded`,
  });
}

/** Answers what the owner answered: status, body and replay marks. */
export function relayAnswer(reply: FastifyReply, answer: ForwardableAnswer): FastifyReply {
  markReplay(reply, answer);
  reply.code(answer.status);
  return answer.status === 204 ? reply.send() : reply.type(JSON_TYPE).send(answer.body);
}

/**
 * Null for an answer that no client can read (decision 25): of another status, or not one JSON object. Only media type
 * and ends of the body are checked, since owners are our own and the body is not to be parsed twice. A 401 or 403
 * means that the owner refused this gateway, which is no fault of the client's key.
 */
export function toForwardable({ status, headers, body }: InternalAnswer): ForwardableAnswer | null {
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
