/**
 * The seed of this run: that of `PIXMESH_TEST_SEED`, to repeat a run, or a new one from the clock. `npm test` prints
 * it; a file that runs alone names it in its tests or in what fast-check says of a failure.
 */
export function testSeed(): number {
  const given = process.env['PIXMESH_TEST_SEED'];
  if (given === undefined || given === '') return CLOCK_SEED;
  const seed = Number(given);
  if (!Number.isSafeInteger(seed)) throw new Error(`PIXMESH_TEST_SEED is no integer: ${given}`);
  return seed;
}

/** Chosen once a process, so that what a file prints is what it used. */
const CLOCK_SEED = Date.now() % 1_000_000_007;
