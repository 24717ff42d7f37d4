import { readFileSync } from 'node:fs';

import { loadSettings } from '@pixmesh/service/load-settings';

type Environment = Readonly<Record<string, string | undefined>>;

/** What the stack decides alone: its own calls go to the loopback, and each service has a role of its own. */
export const DECIDED_BY_THE_STACK: readonly string[] = [
  'NODE_ENV',
  'HOST',
  'DATABASE_URL',
  'MESH_TLS_DIR',
];

/** The names of a service's settings. */
export async function loadSettingNames(service: string): Promise<readonly string[]> {
  return Object.keys((await loadSettings(service)).shape);
}

/**
 * The stack's own values, and before them what the environment of the start sets, as `X` or as `X_FILE`. An empty
 * value counts as unset, as the services read it.
 */
export function preferGiven(
  own: Readonly<Record<string, string>>,
  names: readonly string[],
  environment: Environment = process.env,
): Record<string, string> {
  const chosen = { ...own };
  for (const name of names) {
    const given = [name, `${name}_FILE`].filter((variable) => environment[variable]);
    // Beside what is given, the stack's own value or file would be a second one.
    if (given.length > 0) {
      delete chosen[name];
      delete chosen[`${name}_FILE`];
    }
    for (const variable of given) chosen[variable] = environment[variable] ?? '';
  }
  return chosen;
}

/** What the environment sets, for the stack's own use; undefined where it sets nothing. */
export function givenValue(
  name: string,
  environment: Environment = process.env,
): string | undefined {
  const file = environment[`${name}_FILE`];
  return file ? readFileSync(file, 'utf8').trimEnd() : environment[name] || undefined;
}
