import { readFileSync } from 'node:fs';

import { ERRORS, type ErrorCode } from '@pixmesh/kernel/app-error';
import { expect, test } from 'vitest';

import { ERROR_STATUS, isPublicErrorCode } from './error-body.ts';

/** Codes that stay inside: a caller sees `INTERNAL_ERROR` instead. */
const INTERNAL: readonly ErrorCode[] = [
  'CALLER_NOT_ALLOWED',
  'DEPENDENCY_UNAVAILABLE',
  'MESSAGE_INVALID',
];

/** Status by code, as the specification's own table has it. */
const SPECIFIED = {
  UNAUTHORIZED: 401,
  INSUFFICIENT_SCOPE: 403,
  IDEMPOTENCY_KEY_REQUIRED: 400,
  VALIDATION_ERROR: 400,
  INVALID_DOCUMENT: 400,
  METHOD_NOT_SUPPORTED: 400,
  AMOUNT_BELOW_MINIMUM: 400,
  INSUFFICIENT_BALANCE: 400,
  PAYOUTS_DISABLED: 422,
  CHARGE_NOT_FOUND: 404,
  PAYOUT_NOT_FOUND: 404,
  WEBHOOK_NOT_FOUND: 404,
  INVALID_WEBHOOK_URL: 422,
  ACQUIRER_REJECTED: 422,
  INTERNAL_ERROR: 500,
} as const;

const codes = Object.keys(ERRORS) as ErrorCode[];
const document = readFileSync(new URL('../../../../docs/errors.md', import.meta.url), 'utf8');

test('every code has a public status, or is meant to stay inside', () => {
  const inside = codes.filter((code) => !isPublicErrorCode(code));
  expect(inside.sort()).toEqual([...INTERNAL].sort());
});

test('statuses are those of the specification', () => {
  for (const [code, status] of Object.entries(ERROR_STATUS)) {
    if (code in SPECIFIED) expect([code, status]).toEqual([code, Reflect.get(SPECIFIED, code)]);
  }
});

test('only what went wrong on our side, or came too often, may be tried again unchanged', () => {
  const retriable = codes.filter((code) => ERRORS[code].retriable);
  expect(retriable.sort()).toEqual(['DEPENDENCY_UNAVAILABLE', 'INTERNAL_ERROR', 'RATE_LIMITED']);
});

test('docs/errors.md lists every code with its status, and no other', () => {
  const rows = document.matchAll(/^\| `([A-Z_]+)` \| (\d{3}|internal) \| (.+) \|$/gm);
  const documented = [...rows].map(([, code, status]) => [code, status]);
  const expected = codes.map((code) => [
    code,
    isPublicErrorCode(code) ? String(ERROR_STATUS[code]) : 'internal',
  ]);
  expect(documented.sort()).toEqual(expected.sort());
});
