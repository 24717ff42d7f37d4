import { invalidRequest } from '@pixmesh/http/refusal';
import { AppError } from '@pixmesh/kernel/app-error';

import { readHeader } from '#edge/read-header.ts';

const HEADER = 'Idempotency-Key';
const LENGTH_MIN = 8;
const LENGTH_MAX = 255;
const KEY_EXPECTED = `${LENGTH_MIN} to ${LENGTH_MAX} characters of printable ASCII`;
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

/**
 * The `Idempotency-Key` of a creation, opaque and case sensitive (decisions 50, 51, 242).
 * @throws AppError `IDEMPOTENCY_KEY_REQUIRED` for one that is missing, blank or too short, `VALIDATION_ERROR`
 * for one that is too long, repeated or not printable ASCII
 */
export function readIdempotencyKey(rawHeaders: readonly string[]): string {
  const key = readOptionalIdempotencyKey(rawHeaders);
  if (key === null) throw new AppError('IDEMPOTENCY_KEY_REQUIRED');
  return key;
}

/** The same rules where the header may be left out: null when it was not sent. */
export function readOptionalIdempotencyKey(rawHeaders: readonly string[]): string | null {
  const header = readHeader(rawHeaders, 'idempotency-key');
  if (header.kind === 'missing') return null;
  if (header.kind === 'repeated') throw invalidRequest({ name: HEADER, expected: 'it once' });
  const key = header.value;
  if (key.length < LENGTH_MIN || key.trim() === '') throw new AppError('IDEMPOTENCY_KEY_REQUIRED');
  if (key.length > LENGTH_MAX || !PRINTABLE_ASCII.test(key)) {
    throw invalidRequest({ name: HEADER, expected: KEY_EXPECTED });
  }
  return key;
}
