/**
 * Long runs: the same tests with the counts that take minutes. `npm run test:long` sets the
 * variable; everything else runs the usual counts.
 */
export const isLong = process.env['PIXMESH_LONG'] === '1';

/** The count of a usual run, or the count of a long one. */
export function scaled<T>(usual: T, long: T): T {
  return isLong ? long : usual;
}
