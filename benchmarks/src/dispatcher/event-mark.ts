/**
 * What a delivery says of itself, in the `reference` of its charge: the phase of the run, its number within it, and
 * when it was meant to be published. Receivers know nothing else, whoever delivers.
 */
export type EventMark = { phase: string; number: number; intendedMs: number };

const MARK = /"reference":"([\w-]+)~(\d+)~([\d.]+)"/;

export function writeMark({ phase, number, intendedMs }: EventMark): string {
  return `${phase}~${number}~${intendedMs.toFixed(3)}`;
}

/** Read from the text, because parsing a kilobyte of JSON would be the receiver's greatest cost. */
export function readMark(body: string): EventMark | null {
  const [, phase, number, intendedMs] = MARK.exec(body) ?? [];
  if (phase === undefined) return null;
  return { phase, number: Number(number), intendedMs: Number(intendedMs) };
}

/** Milliseconds on the one monotonic clock that all processes of a machine share. */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
