import { queryOnce } from '../durable-server.ts';
import type { Stack } from '../with-stack.ts';

const SHOWN_MAX = 60;

/** Kinds of records that each put one entry into an index. */
const INDEX_INSERTS = `'Btree/INSERT_LEAF', 'Btree/INSERT_POST', 'Btree/SPLIT_L', 'Btree/SPLIT_R'`;

type WalRange = { from: number; to: number };

/**
 * The entries that were put into indexes between two positions of the write-ahead log, as the log has them: an index
 * that leaves a row out does not count. Null where the server has removed that part of the log.
 */
export async function countIndexEntries(stack: Stack, range: WalRange): Promise<number | null> {
  const [row] = await readWal<{ entries: string }>(
    stack,
    range,
    `select coalesce(sum(count), 0) as entries
     from pg_get_wal_stats($1::pg_lsn, $2::pg_lsn, true)
     where "resource_manager/record_type" in (${INDEX_INSERTS})`,
  );
  return row === undefined ? null : Number(row.entries);
}

type WalOfKind = { name: string; count: string; records: string; images: string };

type WalOfTable = { name: string; kind: string; count: string; bytes: string };

/** Prints what each of `lives` wrote to the log between two positions, by table or index and kind of record. */
export async function printWal(stack: Stack, range: WalRange, lives: number): Promise<void> {
  const rows = await readWal<WalOfTable>(
    stack,
    range,
    `select coalesce(relnamespace::regnamespace || '.' || relname, 'other databases') as name,
       resource_manager || '/' || record_type as kind, count(*) as count, sum(record_length) as bytes
     from pg_get_wal_block_info($1::pg_lsn, $2::pg_lsn, false) as block
     left join pg_class on pg_relation_filenode(pg_class.oid) = block.relfilenode
     where block_id = 0
     group by 1, 2
     order by 4 desc
     limit ${SHOWN_MAX}`,
  );
  for (const { name, kind, count, bytes } of rows) {
    const kilobytes = Number(bytes) / lives / 1_024;
    console.log(
      `    ${(Number(count) / lives).toFixed(2)}  ${kilobytes.toFixed(2)} KB  ${name}  ${kind}`,
    );
  }
  await printKinds(stack, range, lives);
}

/** Prints how much records take, and how much images of pages that changed first after a checkpoint. */
async function printKinds(stack: Stack, range: WalRange, lives: number): Promise<void> {
  const rows = await readWal<WalOfKind>(
    stack,
    range,
    `select "resource_manager/record_type" as name, count, record_size as records, fpi_size as images
     from pg_get_wal_stats($1::pg_lsn, $2::pg_lsn, false)
     where count > 0
     order by combined_size desc`,
  );
  const perLife = (figure: string, unit: number) => (Number(figure) / unit / lives).toFixed(2);
  for (const { name, count, records, images } of rows) {
    const sizes = `${perLife(records, 1_024)} KB of records, ${perLife(images, 1_024)} KB of images`;
    console.log(`    ${perLife(count, 1)}  ${sizes}  ${name}`);
  }
}

/** `text` has the range as `$1` and `$2`. */
async function readWal<Row extends object>(
  { postgres_url: url }: Stack,
  { from, to }: WalRange,
  text: string,
): Promise<Row[]> {
  await queryOnce(url, 'create extension if not exists pg_walinspect');
  try {
    return await queryOnce<Row & Record<string, string>>(url, text, [toLsn(from), toLsn(to)]);
  } catch (error) {
    console.log('    the log cannot be read:', error);
    return [];
  }
}

function toLsn(position: number): string {
  const half = 2 ** 32;
  return `${Math.floor(position / half).toString(16)}/${(position % half).toString(16)}`;
}
