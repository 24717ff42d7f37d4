import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import { newId } from '@pixmesh/kernel/ids';

import { toErrorAnswer } from './error-reply.ts';
import { JSON_TYPE } from './json-type.ts';
import { invalidRequest } from './refusal.ts';

/** A client that reads nothing of its refusal is cut off after this long. */
const LINGER_MS = 1_000;

/** The client has left, or is too slow with its headers or its handshake. */
const SILENT_CODES: ReadonlySet<string | undefined> = new Set([
  'ECONNRESET',
  'ERR_HTTP_REQUEST_TIMEOUT',
  'ERR_TLS_HANDSHAKE_TIMEOUT',
]);

/** Node keeps the answer in progress here; its own handler reads it in the same way. */
type ServerSocket = Socket & { _httpMessage?: ServerResponse | null };

/** What is known about a refusal: there is no request yet that could be named. */
export type RefusedConnection = {
  requestId: string;
  status: number;
  /** The address of who holds the connection. */
  peer: string | undefined;
};

/**
 * What the HTTP parser refuses never reaches a route; it gets the error envelope all the same, and its
 * connection ends. What takes too long to arrive is closed without a word, and so is what comes behind a request that
 * is at work: its client would take the refusal for the answer to that request.
 */
export function answerClientError(
  error: Error & { code?: string },
  socket: Socket,
  onRefused: (refused: RefusedConnection) => void = () => undefined,
): void {
  const answer = (socket as ServerSocket)._httpMessage;
  const isAtWork = answer?.req.complete === true || answer?.headersSent === true;
  // A client that is too slow is to try again, which a 4xx would tell it not to (specification, Errors).
  if (SILENT_CODES.has(error.code) || !socket.writable || isAtWork) return void socket.destroy();
  const refusal = invalidRequest({ name: faultOf(error), expected: 'what HTTP/1.1 allows there' });
  const { status, body } = toErrorAnswer(refusal);
  const requestId = newId();
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} Bad Request\r\nconnection: close\r\ncontent-type: ${JSON_TYPE}\r\n` +
      `cache-control: no-store\r\nx-content-type-options: nosniff\r\n${ANSWER_HEADERS.requestId}: ${requestId}\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  onRefused({ requestId, status, peer: socket.remoteAddress });
  // Closing at once could reset the connection before the client has read the answer.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** The parser names what it stumbled over; a body shows in the codes of chunks and of data after the end. */
function faultOf({ code = '' }: { code?: string }): string {
  if (code === 'HPE_INVALID_METHOD') return 'method';
  if (code === 'HPE_INVALID_URL') return 'request-target';
  return /CHUNK|CLOSED_CONNECTION|EOF/.test(code) ? 'body' : 'headers';
}
