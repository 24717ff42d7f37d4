/** Settings of the stack's own that must not leak into the processes it starts. */
const OWN_PREFIX = 'PIXMESH_';
const DROPPED = new Set(['NODE_OPTIONS', 'NODE_ENV', 'INIT_CWD']);

/** The supervisor's environment without what npm, vitest and the stack itself put there. */
export function inheritedEnvironment(): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value === undefined || DROPPED.has(name)) continue;
    if (name.startsWith(OWN_PREFIX) || name.startsWith('npm_') || name.startsWith('VITEST'))
      continue;
    kept[name] = value;
  }
  return kept;
}
