/** What npm, vitest and the stack itself put there must not leak into the processes that it starts. */
const DROPPED = /^(PIXMESH_|npm_|VITEST|(NODE_OPTIONS|NODE_ENV|INIT_CWD)$)/;
/** What any server needs. A secret that a person has in the shell is none of its business. */
const PASSED = new Set(['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR']);

/** The supervisor's environment without what npm, vitest and the stack itself put there. */
export function inheritedEnvironment(): Record<string, string> {
  return pick((name) => !DROPPED.test(name));
}

/** What each long-lived process gets; whatever else it needs is said where it is described. */
export function serverEnvironment(): Record<string, string> {
  return pick((name) => PASSED.has(name));
}

function pick(isWanted: (name: string) => boolean): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => isWanted(name));
  return Object.fromEntries(kept) as Record<string, string>;
}
