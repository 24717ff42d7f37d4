/** What npm, vitest and the stack itself put there must not leak into the processes that it starts. */
const DROPPED = /^(PIXMESH_|npm_|VITEST|(NODE_OPTIONS|NODE_ENV|INIT_CWD)$)/;

/** The supervisor's environment without what npm, vitest and the stack itself put there. */
export function inheritedEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => !DROPPED.test(name));
  return Object.fromEntries(kept) as Record<string, string>;
}
