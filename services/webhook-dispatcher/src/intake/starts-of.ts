/** Where each of several values begins in all of them put together: Postgres counts bytes from one. */
export function startsOf(lengths: readonly number[]): number[] {
  let next = 1;
  return lengths.map((length) => (next += length) - length);
}
