import type { DueRowsJob } from './due-rows-job.ts';
import { createWriteBatcher } from './write-batcher.ts';

/**
 * A row that names asked for, with their positions among the names. `isLeased`: to the caller, for a check at once.
 * Otherwise its check is requested.
 */
export type NamedRow<Row> = { row: Row; isLeased: boolean; positions: readonly number[] };

/** Has what a name stands for checked soon, and answers the rows that it named. */
export type NamedChecks<Name, Row> = { check(name: Name): Promise<Row[]> };

/**
 * What is named is checked at once where the job has places and no check waits for one, and requested otherwise, so that
 * accounts take turns as soon as checks have to wait. Names that come together share a statement.
 */
export function createNamedChecks<Name, Row>(deps: {
  job: Pick<DueRowsJob<Row>, 'takeNow'>;
  /** Leases up to `places` of the rows that are named, and requests the check of all others, in one statement. */
  lease(names: readonly Name[], places: number): Promise<NamedRow<Row>[]>;
  /** Requested checks wait. */
  wakeStatusChecks(): void;
}): NamedChecks<Name, Row> {
  const { job, lease, wakeStatusChecks } = deps;
  const batcher = createWriteBatcher<Name, Row[]>(async (names) => {
    let rows: NamedRow<Row>[] = [];
    await job.takeNow(names.length, async (places) => {
      rows = await lease(names, places);
      return rows.filter(({ isLeased }) => isLeased).map(({ row }) => row);
    });
    if (rows.some(({ isLeased }) => !isLeased)) wakeStatusChecks();
    return names.map((_name, position) =>
      rows.filter(({ positions }) => positions.includes(position)).map(({ row }) => row),
    );
  });
  return { check: (name) => batcher.submit(name) };
}
