/** Rows of a minute for requests without an accepted key that one gateway stores: of one source, and in all. */
export const ROWS_PER_SOURCE_MAX = 30;
export const ROWS_MAX = 100;
const WINDOW_MS = 60_000;

/** Whether a request without an accepted key is stored; `source` is an address, or a key that is refused. */
export type SampleUnauthenticated = (source: string | null) => boolean;

/**
 * Limits the rows stored for requests without an accepted key: anybody can send them, and each row is kept for
 * months. One source takes a part of it alone, so that one with many requests leaves room for a merchant who
 * mistypes a key. `now` is a clock that never jumps, in milliseconds.
 */
export function createUnauthenticatedSample(now: () => number): SampleUnauthenticated {
  let window = openWindow(-Infinity);
  return (source) => {
    if (now() >= window.endsAtMs) window = openWindow(now() + WINDOW_MS);
    const { bySource } = window;
    const rows = bySource.get(source) ?? 0;
    if (window.rows >= ROWS_MAX || rows >= ROWS_PER_SOURCE_MAX) return false;
    window.rows += 1;
    bySource.set(source, rows + 1);
    return true;
  };
}

function openWindow(endsAtMs: number) {
  return { endsAtMs, rows: 0, bySource: new Map<string | null, number>() };
}
