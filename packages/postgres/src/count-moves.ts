import type { counter } from '@pixmesh/telemetry/metrics';

import { onCommit } from './on-commit.ts';
import type { Queryable } from './pool.ts';

type Counter = ReturnType<typeof counter>;
type Move<Status extends string> = { from: { status: string; amount: bigint }; status: Status };

/** Counts the moves that lead to another status than before, and their money in cents, once they are committed. */
export function countMoves<Status extends string>(
  db: Queryable,
  moves: readonly Move<Status>[],
  { moved, movedCents }: { moved: Counter; movedCents: Counter },
): void {
  const changed = moves.filter(({ from, status }) => from.status !== status);
  onCommit(db, () => {
    for (const { from, status } of changed) {
      moved.add(1, { status });
      movedCents.add(Number(from.amount), { status });
    }
  });
}
