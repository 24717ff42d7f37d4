import type { ChildProcess } from 'node:child_process';

const owned = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of owned) child.kill('SIGKILL');
});

/** Whether a child has ended, by itself or by a signal. */
export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/**
 * Ties a child to this process: it ends with it at the latest, also where a hook failed before its test could end it.
 * What it says on stderr is passed on. A child must be given no stream of this process itself ('inherit'): vitest waits
 * until all that hold a worker's streams have ended, so that one forgotten child would keep the run from ending.
 */
export function ownProcess<Child extends ChildProcess>(child: Child): Child {
  owned.add(child);
  child.once('exit', () => owned.delete(child));
  child.stderr?.pipe(process.stderr, { end: false });
  return child;
}
