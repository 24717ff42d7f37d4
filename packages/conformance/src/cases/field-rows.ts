import { observed, type ObservedCase } from '../suite/case.ts';
import type { World } from '../world/world.ts';

/** One row of a table of fields, looked at in one resource. */
export function rows<T>(
  get: (world: World) => Promise<T>,
  table: Readonly<Record<string, readonly [string, (value: T) => unknown]>>,
): ObservedCase[] {
  return Object.entries(table).map(([field, [note, look]]) =>
    observed(field, `\`${field}\`: ${note}`, async (world) => {
      await look(await get(world));
    }),
  );
}

export function secondsBetween(from: string | null, to: string | null): number {
  return (Date.parse(to ?? '') - Date.parse(from ?? '')) / 1_000;
}

/** A document without its mask. */
export function plain(document: string | null): string {
  return (document ?? '').replaceAll(/[.\-/ ]/g, '');
}
