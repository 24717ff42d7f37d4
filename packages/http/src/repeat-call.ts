/** One that stops, one that has been killed, and one that lives. */
export const TRIES_MAX = 3;

/** Undici's words, and the system's, for a connection that ended before the answer did. */
const CUT_CODES = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/**
 * Whether a failed call may be made again, by another connection and so perhaps at another process: where it was never
 * sent, or changes nothing. A call that changes something and was cut off has an unknown outcome, and that is its
 * caller's to resolve.
 */
export function mayRepeat(method: string, error: unknown): boolean {
  if (neverSent(error)) return true;
  return method === 'GET' && CUT_CODES.has((error as Failure).code ?? '');
}

/** A connection that was never there: neither the address nor the handshake came to an end. */
export class NotConnectedError extends Error {
  override readonly name = 'NotConnectedError';
}

type Failure = { code?: string; syscall?: string };

function neverSent(error: unknown): boolean {
  if (error instanceof NotConnectedError) return true;
  // A name with several addresses: Node reports each attempt.
  if (error instanceof AggregateError) return error.errors.every(neverSent);
  const { code, syscall } = error as Failure;
  return syscall === 'connect' || code === 'UND_ERR_CONNECT_TIMEOUT';
}
