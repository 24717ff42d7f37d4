/** Rows per statement: locks on them are short. */
export const ENDED_PER_STATEMENT_MAX = 1_000;
/** Statements of one turn of the retention: a job whose turn lasts for a minute counts as one that hangs. */
const STATEMENTS_MAX = 20;

/** Repeats a statement that ends as many rows as it may. False where more may be left, for another turn. */
export async function endInSteps(endSome: () => Promise<number>): Promise<boolean> {
  for (let statements = 0; statements < STATEMENTS_MAX; statements += 1) {
    if ((await endSome()) < ENDED_PER_STATEMENT_MAX) return true;
  }
  return false;
}
