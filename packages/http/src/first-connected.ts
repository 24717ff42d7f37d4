import type { Socket } from 'node:net';

/** A handshake that takes longer may be with a process that stands still; another attempt may meet one that does not. */
const NEXT_ATTEMPT_MS = 500;
/** Of one connection. Each costs both sides a handshake, so a peer that is merely slow is not asked for many. */
const ATTEMPTS_MAX = 4;

/** One attempt. It does not begin any more where `isWanted` says no. */
export type ConnectionAttempt = (isWanted: () => boolean) => Promise<Socket>;

/**
 * Answers the first connection that is made. Attempts begin half a second apart, each beside those before it, until one
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
