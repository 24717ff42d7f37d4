/** Rows of a minute for requests without an accepted key that one gateway stores: of one address, and in all. */
export const ROWS_PER_ADDRESS_MAX = 30;
export const ROWS_MAX = 100;
const WINDOW_MS = 60_000;

/** Whether a stranger's request is stored. */
export type SampleStrangers = (address: string | null) => boolean;

/**
 * Bounds what strangers have us store: they ask as often as they like, and each row is kept for
 * months. One address takes a part of it alone, so that a flood leaves room for a merchant who mistypes a key. `now` is a
 * clock that never jumps, in milliseconds.
 */
export function createStrangerSample(now: () => number): SampleStrangers {
  let window = openWindow(-Infinity);
  return (address) => {
    if (now() >= window.endsAtMs) window = openWindow(now() + WINDOW_MS);
    const { byAddress } = window;
    const rows = byAddress.get(address) ?? 0;
    if (window.rows >= ROWS_MAX || rows >= ROWS_PER_ADDRESS_MAX) return false;
    window.rows += 1;
    byAddress.set(address, rows + 1);
    return true;
  };
}

function openWindow(endsAtMs: number) {
  return { endsAtMs, rows: 0, byAddress: new Map<string | null, number>() };
}
