/**
 * Named places where a test can make a process die, hang or fail: before and after every commit and every
 * call to another system. Armed through a listener of their own (`failpoint-listener.ts`), so that a restart
 * disarms them; production has none. Each failpoint fires once.
 */
const ACTIONS = ['kill', 'hang', 'error'] as const;
export type FailpointAction = (typeof ACTIONS)[number];

/** A process has one set of failpoints, because one listener arms them all. */
const declared = new Set<string>();
const armed = new Map<string, FailpointAction>();

/** Declares the failpoints of a service or package, and gives the function that stands at each of them. */
export function declareFailpoints<const Name extends string>(
  names: readonly Name[],
): (name: Name) => Promise<void> {
  for (const name of names) declared.add(name);
  return reach;
}

/** Replaces what is armed. @throws when a name or an action is unknown; nothing changes then */
export function armFailpoints(actions: Record<string, FailpointAction>): void {
  for (const [name, action] of Object.entries(actions)) {
    if (!declared.has(name)) throw new Error(`unknown failpoint ${name}`);
    if (!ACTIONS.includes(action)) throw new Error(`unknown action of failpoint ${name}`);
  }
  armed.clear();
  for (const [name, action] of Object.entries(actions)) armed.set(name, action);
}

/** Does nothing unless a test armed this place. */
async function reach(name: string): Promise<void> {
  const action = armed.get(name);
  if (action === undefined) return;
  armed.delete(name);
  if (action === 'error') throw new Error(`failpoint ${name}`);
  if (action === 'hang') return await new Promise<never>(() => undefined);
  process.kill(process.pid, 'SIGKILL');
}
