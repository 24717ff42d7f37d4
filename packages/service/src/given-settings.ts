import { readFileSync } from 'node:fs';

/** Settings by name, as the environment or a file gives them: before defaults, empty ones left out. */
export type GivenSettings = Readonly<Record<string, string>>;

/** What is wrong with a setting; `variable` is what its line names, where that is not the setting itself. */
export type Problem = { setting: string; variable?: string; expected: string };

const FILE_EXPECTED = 'expected the path of a readable file';

/**
 * The wanted settings only: others' `*_FILE` variables are not ours to open. An empty value counts as unset,
 * as compose files write it; a port would read it as 0 otherwise.
 */
export function readGiven(
  names: ReadonlySet<string>,
  env: NodeJS.ProcessEnv,
): { given: GivenSettings; unreadable: Problem[] } {
  const given: Record<string, string> = {};
  const unreadable: Problem[] = [];
  for (const setting of names) {
    const variable = `${setting}_FILE`;
    const path = env[variable];
    const value = env[setting] || undefined;
    if (path && value !== undefined) {
      const expected = `expected either ${setting} or ${variable}, not both`;
      unreadable.push({ setting, expected });
      continue;
    }
    const found = path ? readSecretFile(path) : value;
    if (found !== undefined) given[setting] = found;
    else if (path) unreadable.push({ setting, variable, expected: FILE_EXPECTED });
  }
  return { given, unreadable };
}

function readSecretFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trimEnd();
  } catch {
    return undefined;
  }
}
