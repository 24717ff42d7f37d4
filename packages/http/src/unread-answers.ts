import type { Server } from 'node:http';

/** How long an answer waits for a client that reads nothing of it. */
const STALLED_MS_MAX = 10_000;
/** How long a client that reads slowly may take for the whole answer. */
const READING_MS_MAX = 60_000;

/**
 * Ends connections whose client does not read its answer: each would hold a place of the listener, and the end of its
 * process, for as long as the client likes. On the server and not in a hook: the framework answers ill-formed URLs
 * without running any. An answer that the kernel takes at once, as nearly all are, costs nothing.
 */
export function endUnreadAnswers(
  server: Pick<Server, 'prependListener'>,
  { stalledMsMax = STALLED_MS_MAX, readingMsMax = READING_MS_MAX } = {},
): void {
  server.prependListener('request', ({ socket }, response) => {
    // All of the answer is handed to the socket.
    response.once('prefinish', () => {
      if (socket.writableLength === 0) return;
      // Each byte that leaves begins it anew; Node replaces it once the answer is read.
      socket.setTimeout(stalledMsMax);
      const slow = setTimeout(() => socket.destroy(), readingMsMax);
      response.once('close', () => clearTimeout(slow));
    });
  });
}
