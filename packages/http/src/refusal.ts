import { AppError, type ErrorCode, ERRORS } from '@pixmesh/kernel/app-error';
import type { z } from 'zod';

/** One thing that is wrong: where, as `details` names it, and what is expected there. */
export type Fault = { name: string; expected: string };

/** Faults that the message shows; `details` has all of them. */
const SHOWN_MAX = 10;

/**
 * A request that is not as it has to be: `details` says where, and the message also what is expected. What was sent
 * stands in neither: it may be a secret or personal data.
 */
export function invalidRequest(...faults: readonly Fault[]): AppError {
  const byName = new Map(faults.toReversed().map(({ name, expected }) => [name, expected]));
  const details = [...new Set(faults.map(({ name }) => name))];
  const shown = details.slice(0, SHOWN_MAX).map((name) => `${name}: expected ${byName.get(name)}`);
  const rest = details.length - shown.length;
  const more = rest > 0 ? `; and ${rest} more` : '';
  return explained('VALIDATION_ERROR', `${shown.join('; ')}${more}.`, { details });
}

/** A refusal whose message says, beside the title of its code, what would be taken. */
export function explained(
  code: ErrorCode,
  why: string,
  options: { details?: readonly string[]; cause?: unknown } = {},
): AppError {
  return new AppError(code, { ...options, publicMessage: `${ERRORS[code].title} ${why}` });
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};
const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  url: 'a URL',
  email: 'an e-mail address',
  datetime: 'a date and time with offset',
};
const EXPECTED = /^expected (.+)$/s;

/** What a schema expects where it found a fault; one that says so in words of its own begins with `expected`. */
export function expectedBy({ message }: z.core.$ZodIssue): string {
  return EXPECTED.exec(message)?.[1] ?? 'another value';
}

/** The message of a schema that has none of its own, for `safeParse`. */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  const expected = describe(issue);
  return expected && `expected ${expected}`;
}

function describe(issue: z.core.$ZodRawIssue): string | undefined {
  const { code } = issue;
  if (code === 'invalid_type') return isInteger(issue.inst) ? TYPES['int'] : TYPES[issue.expected];
  if (code === 'invalid_value') return oneOf(issue.values.map(String));
  if (code === 'invalid_format') return FORMATS[issue.format];
  if (code === 'too_small') return `at least ${issue.minimum}${unitOf(issue.origin)}`;
  if (code === 'too_big') return `at most ${issue.maximum}${unitOf(issue.origin)}`;
  if (code === 'unrecognized_keys') return 'no other field';
  return undefined;
}

/** A text in the place of an integer is no number to begin with. */
function isInteger(schema: unknown): boolean {
  const { _zod } = (schema ?? {}) as { _zod?: { def: { format?: string } } };
  return _zod?.def.format === 'safeint';
}

function oneOf(values: readonly string[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' items' : '';
}
