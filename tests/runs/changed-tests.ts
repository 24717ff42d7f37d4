import { dependentsOf, type ImportGraph, workspaceOf } from './import-graph.ts';
import type { Ring } from './run-ring.ts';

/** What belongs to no workspace and may change any test. */
const TOUCHES_ALL =
  /^(package\.json|package-lock\.json|vitest\.config\.ts|tsconfig.*\.json|tests\/setup\/)/;
/** These read the whole repository. */
const READS_ALL = /^tests\/(structure\/)?[^/]+\.test\.ts$/;

/** The test files that a change may turn red, by ring; of `e2e` those alone that were changed themselves. */
export function selectChangedTests(
  graph: ImportGraph,
  changed: readonly string[],
): Record<Ring, string[]> {
  const tests = [...graph.keys()].filter((file) => file.endsWith('.test.ts'));
  const rings = {
    unit: tests.filter((file) => !/\.(int|e2e)\.test\.ts$/.test(file)),
    int: tests.filter((file) => file.endsWith('.int.test.ts')),
    e2e: tests.filter((file) => file.endsWith('.e2e.test.ts') && changed.includes(file)),
  };
  if (changed.some((file) => TOUCHES_ALL.test(file))) return rings;
  const reached = dependentsOf(graph, changed);
  // Migrations, goldens and fixtures are read by name: whoever stands in their workspace may read them.
  const workspaces = new Set(changed.filter((file) => !graph.has(file)).map(workspaceOf));
  const isReached = (file: string) =>
    reached.has(file) || READS_ALL.test(file) || workspaces.has(workspaceOf(file));
  return {
    unit: changed.length === 0 ? [] : rings.unit.filter(isReached),
    int: rings.int.filter(isReached),
    e2e: rings.e2e,
  };
}
