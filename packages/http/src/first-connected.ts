import type { Socket } from 'node:net';

/** A handshake that takes longer may be with a process that stands still; another attempt may meet one that does not. */
const NEXT_ATTEMPT_MS = 250;
/**
 * Of one connection. Where one of two processes stands still, one connection in 256 is not made by them. Each attempt
 * has to wait for its turn like a first one, so a peer that is merely slow has no more handshakes at once.
 */
const ATTEMPTS_MAX = 8;

/** One attempt. It does not begin any more where `isWanted` says no. */
export type ConnectionAttempt = (isWanted: () => boolean) => Promise<Socket>;

/**
 * Answers the first connection that is made. Attempts begin a quarter of a second apart, each beside those before it, until one
 * succeeds; later connections are closed. Rejects when every attempt that has begun has failed, with the last error.
 */
export async function firstConnected(attempt: ConnectionAttempt): Promise<Socket> {
  const first = Promise.withResolvers<Socket>();
  let isDone = false;
  let begun = 0;
  let failed = 0;
  let next: NodeJS.Timeout | undefined;
  begin();
  try {
    return await first.promise;
  } finally {
    isDone = true;
    clearTimeout(next);
  }

  function begin(): void {
    begun += 1;
    if (begun < ATTEMPTS_MAX) next = setTimeout(begin, NEXT_ATTEMPT_MS);
    attempt(() => !isDone).then(connected, (error: unknown) => {
      failed += 1;
      if (failed === begun) first.reject(error);
    });
  }

  function connected(socket: Socket): void {
    if (isDone) socket.destroy();
    isDone = true;
    first.resolve(socket);
  }
}
