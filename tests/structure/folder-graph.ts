import path from 'node:path';

/**
 * One import between two rooms of a workspace; a room is a folder below `src`, the files of a folder beside its folders
 * (`folder/.`), or a file beside the widest folders.
 */
export type Arrow = { from: string; to: string; file: string; target: string };

export type Source = { file: string; text: string };

const TESTS = /\.test\.ts$/;
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g;

/** The arrows between the rooms of `root`/src, such as `services/charges`; tests are left out. */
export function listArrows(root: string, sources: readonly Source[]): Arrow[] {
  const src = `${root}/src/`;
  return sources
    .filter(({ file }) => file.startsWith(src) && !TESTS.test(file))
    .flatMap(({ file, text }) =>
      [...text.matchAll(IMPORT)].flatMap(([, specifier = '']) => {
        const target = resolveImport(src, file, specifier);
        if (target === null) return [];
        const [from, to] = [roomsOf(src, file), roomsOf(src, target)];
        return pairRooms(from, to).map((pair) => ({ ...pair, file, target }));
      }),
    );
}

/** Cycles of rooms, each as the rooms in it; empty where the folders are layers. */
export function findCycles(arrows: readonly Arrow[]): string[][] {
  const rooms = [...new Set(arrows.flatMap(({ from, to }) => [from, to]))].toSorted();
  const reached = new Map(rooms.map((room) => [room, reach(room, arrows)]));
  const inCycle = rooms.filter((room) => reached.get(room)?.has(room));
  const cycles = new Map<string, string[]>();
  for (const room of inCycle) {
    const cycle = inCycle.filter((o) => reached.get(room)?.has(o) && reached.get(o)?.has(room));
    cycles.set(cycle.join(), cycle);
  }
  return [...cycles.values()];
}

/** One line for each import that ties a cycle together, for whoever has to take it apart. */
export function describeCycle(cycle: readonly string[], arrows: readonly Arrow[]): string {
  const ties = arrows.filter(({ from, to }) => cycle.includes(from) && cycle.includes(to));
  const lines = ties.map(({ from, to, file, target }) => `  ${from} -> ${to}: ${file} > ${target}`);
  return [`cycle of ${cycle.join(', ')}`, ...new Set(lines)].join('\n');
}

function reach(start: string, arrows: readonly Arrow[]): Set<string> {
  const found = new Set<string>();
  const open = [start];
  for (let room = open.pop(); room !== undefined; room = open.pop()) {
    for (const { from, to } of arrows) {
      if (from !== room || found.has(to)) continue;
      found.add(to);
      open.push(to);
    }
  }
  return found;
}

/** A repository path, or null for what lies outside of this `src`. */
function resolveImport(src: string, file: string, specifier: string): string | null {
  if (specifier.startsWith('#test/')) return null;
  if (specifier.startsWith('#')) return `${src}${specifier.slice(1)}`;
  if (!specifier.startsWith('.')) return null;
  const target = path.posix.join(path.posix.dirname(file), specifier);
  return target.startsWith(src) ? target : null;
}

/** The rooms that hold a file, from the widest to the narrowest: `a/b/c.ts` is in `a`, in `a/b` and in `a/b/.`. */
function roomsOf(src: string, file: string): string[] {
  const parts = file.slice(src.length).split('/');
  if (parts.length === 1) return parts;
  const folders = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
  return [...folders, `${folders.at(-1)}/.`];
}

/** Where two files part: siblings on the level at which their rooms first differ. */
function pairRooms(from: readonly string[], to: readonly string[]): { from: string; to: string }[] {
  for (let level = 0; level < Math.max(from.length, to.length); level += 1) {
    const [one, other] = [from[level], to[level]];
    if (one === other) continue;
    return one !== undefined && other !== undefined ? [{ from: one, to: other }] : [];
  }
  return [];
}
