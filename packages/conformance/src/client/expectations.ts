import { isDeepStrictEqual } from 'node:util';

import type { z } from 'zod';

const TEXT_LENGTH_MAX = 600;

/** What a case saw against what the specification says. */
export class ExpectationError extends Error {
  readonly expected: string;
  readonly got: string;

  constructor(what: string, expected: unknown, got: unknown) {
    super(what);
    this.name = 'ExpectationError';
    this.expected = toText(expected);
    this.got = toText(got);
  }
}

export function equal(got: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(got, expected)) throw new ExpectationError(what, expected, got);
}

export function oneOf<T>(got: T, allowed: readonly T[], what: string): void {
  if (!allowed.includes(got)) throw new ExpectationError(what, { oneOf: allowed }, got);
}

export function holds(condition: boolean, what: string, got: unknown): void {
  if (!condition) throw new ExpectationError(what, 'as the sentence says', got);
}

/** The value in the shape of the client's own schema, which ignores fields it does not know. */
export function shaped<Schema extends z.ZodType>(
  schema: Schema,
  got: unknown,
  what: string,
): z.output<Schema> {
  const parsed = schema.safeParse(got);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new ExpectationError(`${what} (${faults.join('; ')})`, 'the documented shape', got);
}

function toText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const known = text ?? String(value);
  return known.length > TEXT_LENGTH_MAX ? `${known.slice(0, TEXT_LENGTH_MAX)}…` : known;
}
