import { scaled } from '@pixmesh/testkit/long-runs';

/**
 * How many files of `tests/e2e/alone` run at a time, each on a stack of its own. Bounds of the long run are those of a
 * machine that has nothing else to do.
 */
export const ALONE_WORKERS = scaled(2, 1);
