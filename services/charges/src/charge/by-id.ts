/** What a statement takes of one change, by column. */
export type ChangeOfCharge = { id: string; [column: string]: unknown };

/**
 * The changes of one statement in the order in which it locks their charges: it looks them up by key, one after the
 * other. Two processes whose statements meet then wait for each other, and neither is ended as a deadlock.
 */
export function byId(changes: readonly ChangeOfCharge[]): ChangeOfCharge[] {
  return changes.toSorted((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)));
}
