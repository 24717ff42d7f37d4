import { Agent, setGlobalDispatcher } from 'undici';

/** Far less than any server of ours leaves a connection idle. */
const IDLE_MS_MAX = 1_000;

/**
 * Has `fetch` end its idle connections soon. A busy machine may hold a test up for seconds; otherwise a server ends an
 * idle connection at the moment when the test takes it for its next call.
 */
export function endIdleConnectionsSoon(): void {
  setGlobalDispatcher(
    new Agent({ keepAliveTimeout: IDLE_MS_MAX, keepAliveMaxTimeout: IDLE_MS_MAX }),
  );
}
