/** The bits of a UUIDv7 behind its 48 bits of time, all zero (RFC 9562 section 5.7). */
const SMALLEST_REST = '-7000-8000-000000000000';

/** No id has more time than this. */
const INSTANT_MS_MAX = 2 ** 48 - 1;

/** The smallest id of a delivery whose event's id was minted at this millisecond. */
export function smallestIdOf(instantMs: number): string {
  const bounded = Math.min(Math.max(Math.trunc(instantMs), 0), INSTANT_MS_MAX);
  const hex = bounded.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}${SMALLEST_REST}`;
}
