import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Who needs whom, by paths from the root. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

/** A whole text in quotes after `from`, `import` or an opening bracket, or anything that is a path of a source. */
const SPECIFIER = /(?:from|import|import\()\s*['"]([^'"\n]+)['"]|['"`]([\w./@#-]+\.m?[jt]s)['"`]/g;
const PACKAGE = /^@pixmesh\/([^/]+)\/(.+)$/;
/** The folders of a workspace, or the folder of what belongs to none. */
const WORKSPACE = /^(?:(?:packages|services)\/[^/]+|[^/]+)/;

/** Reads what each source names: by an import, or as the path of a process that it starts. */
export function readImportGraph(files: readonly string[]): ImportGraph {
  const sources = files.filter((file) => /\.m?[jt]s$/.test(file) && existsSync(file));
  const known = new Set(sources);
  return new Map(
    sources.map((file) => [file, findImports(file, readFileSync(file, 'utf8'), known)]),
  );
}

/** Known files that a source names. */
export function findImports(
  file: string,
  text: string,
  known: ReadonlySet<string>,
): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [, imported, named] of text.matchAll(SPECIFIER)) {
    for (const place of placesOf(file, imported ?? named ?? '')) {
      if (known.has(place)) found.add(place);
    }
  }
  return found;
}

/** The changed files and all that need them, over any number of others. */
export function dependentsOf(graph: ImportGraph, changed: readonly string[]): Set<string> {
  const needing = new Map<string, string[]>();
  for (const [file, imports] of graph) {
    for (const one of imports) needing.set(one, [...(needing.get(one) ?? []), file]);
  }
  const reached = new Set(changed);
  const open = [...changed];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    for (const next of needing.get(file) ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(next);
    }
  }
  return reached;
}

export function workspaceOf(file: string): string {
  return WORKSPACE.exec(file)?.[0] ?? '';
}

function placesOf(file: string, specifier: string): string[] {
  const workspace = workspaceOf(file);
  if (specifier.startsWith('#test/')) return [`${workspace}/test/${specifier.slice(6)}`];
  if (specifier.startsWith('#')) return [`${workspace}/src/${specifier.slice(1)}`];
  const [, name = '', rest = ''] = PACKAGE.exec(specifier) ?? [];
  if (name !== '') {
    return [`packages/${name}/src/${rest}.ts`, `${name}/${rest}.ts`, `packages/${name}/${rest}`];
  }
  // A name without dots before it may be a path from the root, or from the file as URLs take it.
  return [path.join(path.dirname(file), specifier), path.normalize(specifier)];
}
