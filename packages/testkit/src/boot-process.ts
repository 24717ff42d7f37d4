import type { ChildProcess } from 'node:child_process';

import { eventually } from './eventually.ts';
import { freePorts } from './free-ports.ts';
import { hasEnded, ownProcess } from './owned-process.ts';

/** A machine that is busy with other suites boots slowly; still within the limit of a hook. */
const READY_TIMEOUT_MS = 60_000;
const STARTS_MAX = 3;

/**
 * Starts a service as a process of its own and waits until it is ready. One that ends before that is started again, as
 * its supervisor does: a service ends itself where its database does not answer in time, or where its port was taken
 * meanwhile.
 *
 * @param portCount how many free ports it is given; its probes are at the first one
 * @throws Error with the end of its stderr, where it is not ready in time or ends each time
 */
export async function bootProcess<Child extends ChildProcess>(
  portCount: number,
  start: (ports: readonly number[]) => Child,
): Promise<{ child: Child; ports: readonly number[] }> {
  for (let starts = 1; ; starts += 1) {
    const ports = await freePorts(portCount);
    const child = ownProcess(start(ports));
    const stderr = tailOf(child);
    const isReady = await untilReadyOrEnded(child, ports[0]).catch((error: unknown) => {
      child.kill('SIGKILL');
      throw new Error(`${child.spawnargs.at(-1)} was not ready in time: ${stderr()}`, {
        cause: error,
      });
    });
    if (isReady) return { child, ports };
    if (starts === STARTS_MAX) {
      throw new Error(`${child.spawnargs.at(-1)} ended ${starts} times: ${stderr()}`);
    }
  }
}

async function untilReadyOrEnded(child: ChildProcess, port: number | undefined): Promise<boolean> {
  return await eventually(async () => {
    if (hasEnded(child)) return false;
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
    return true;
  }, READY_TIMEOUT_MS);
}

/** The last of what it writes to stderr. */
function tailOf(child: ChildProcess): () => string {
  const CHARACTERS = 2_000;
  let tail = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString()).slice(-CHARACTERS);
  });
  return () => tail;
}
