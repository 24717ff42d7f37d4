import { queryOnce } from '../durable-server.ts';
import type { Stack } from '../with-stack.ts';

const SHOWN_MIN = 50;

type Stored = { table: number; indexes: number };
/** By schema and table; the weeks of a table together. */
export type StoredBytes = ReadonlyMap<string, Stored>;

/** What every table has on disk, with its indexes and long values, after dead rows were removed. */
export async function readStoredBytes(stack: Stack): Promise<StoredBytes> {
  await queryOnce(stack.postgres_url, 'vacuum analyze');
  const rows = await queryOnce<{ name: string; table: string; indexes: string }>(
    stack.postgres_url,
    `select format('%s.%s', coalesce(parent.relnamespace, child.relnamespace)::regnamespace, coalesce(parent.relname, child.relname)) as name,
       sum(pg_table_size(child.oid)) as table, sum(pg_indexes_size(child.oid)) as indexes
     from pg_class child
     left join pg_inherits on inhrelid = child.oid
     left join pg_class parent on parent.oid = inhparent
     where child.relkind = 'r' and child.relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
     group by 1`,
  );
  return new Map(
    rows.map(({ name, table, indexes }) => [
      name,
      { table: Number(table), indexes: Number(indexes) },
    ]),
  );
}

/** Prints what one of `lives` has left behind: bytes of rows and of indexes by schema, then the largest tables. */
export function printStored(before: StoredBytes, after: StoredBytes, lives: number): void {
  const grown = [...after].map(([name, { table, indexes }]) => ({
    name,
    table: (table - (before.get(name)?.table ?? 0)) / lives,
    indexes: (indexes - (before.get(name)?.indexes ?? 0)) / lives,
  }));
  const bySchema = Map.groupBy(grown, ({ name }) => name.split('.')[0] ?? '');
  const schemas = [...bySchema].map(([name, tables]) => ({ name, ...sumOf(tables) }));
  printLine({ name: `stored by each of ${lives} lives, bytes`, ...sumOf(grown) });
  for (const one of bySize(schemas)) printLine(one);
  for (const one of bySize(grown)) printLine(one);
}

function sumOf(parts: readonly Stored[]): Stored {
  return {
    table: parts.reduce((total, { table }) => total + table, 0),
    indexes: parts.reduce((total, { indexes }) => total + indexes, 0),
  };
}

function bySize<One extends Stored>(parts: readonly One[]): One[] {
  const size = ({ table, indexes }: Stored) => table + indexes;
  return parts.filter((one) => size(one) >= SHOWN_MIN).toSorted((a, b) => size(b) - size(a));
}

function printLine({ name, table, indexes }: Stored & { name: string }): void {
  const [all, rows, index] = [table + indexes, table, indexes].map((bytes) =>
    bytes.toFixed(0).padStart(7),
  );
  console.log(`    ${name.padEnd(44)} ${all}: rows ${rows}, indexes ${index}`);
}
