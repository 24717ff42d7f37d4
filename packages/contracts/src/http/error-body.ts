import type { ErrorCode } from '@pixmesh/kernel/app-error';
import { z } from 'zod';

/** The body of every error on every surface (specification, Errors; decision 9). */
export const ErrorBody = z.object({
  code: z.string(),
  message: z.string(),
  details: z.array(z.string()),
  /** The charge that an acquirer's refusal or an unknown outcome left behind (decisions 16, 62). */
  charge_id: z.uuid().optional(),
});
export type ErrorBody = z.infer<typeof ErrorBody>;

/** The status of each public code; a code without one never leaves the mesh and becomes `INTERNAL_ERROR`. */
export const ERROR_STATUS = {
  UNAUTHORIZED: 401,
  INSUFFICIENT_SCOPE: 403,
  IDEMPOTENCY_KEY_REQUIRED: 400,
  VALIDATION_ERROR: 400,
  INVALID_DOCUMENT: 400,
  METHOD_NOT_SUPPORTED: 400,
  AMOUNT_BELOW_MINIMUM: 400,
  INVALID_WEBHOOK_URL: 422,
  ACCOUNT_INACTIVE: 422,
  INSUFFICIENT_BALANCE: 400,
  PAYOUTS_DISABLED: 422,
  PAYOUT_NOT_FOUND: 404,
  PAYOUT_NOT_PENDING: 409,
  APPROVER_MUST_DIFFER: 422,
  CHARGE_NOT_FOUND: 404,
  CHARGE_NOT_PENDING: 409,
  CHARGE_NOT_REFUNDABLE: 409,
  REFUND_EXCEEDS_CHARGE: 422,
  DISPUTE_NOT_FOUND: 404,
  DISPUTE_CLOSED: 409,
  WEBHOOK_NOT_FOUND: 404,
  INVALID_WEBHOOK_EVENT: 422,
  ACQUIRER_REJECTED: 422,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  PAYLOAD_TOO_LARGE: 413,
  CONFLICT: 409,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
} as const satisfies Partial<Record<ErrorCode, number>>;

/** Statuses between services, of codes that no client gets. */
export const PEER_STATUS = { CALLER_NOT_ALLOWED: 403 } as const satisfies Partial<
  Record<ErrorCode, number>
>;

export type PublicErrorCode = keyof typeof ERROR_STATUS;

export function isPublicErrorCode(code: string): code is PublicErrorCode {
  return Object.hasOwn(ERROR_STATUS, code);
}
