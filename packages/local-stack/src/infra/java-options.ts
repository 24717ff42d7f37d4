/**
 * Java's quick compiler only. The full one costs more CPU in a stack's first minutes than it saves later, and on a
 * small machine the tests feel it.
 */
export const QUICK_COMPILER = '-XX:TieredStopAtLevel=1';
