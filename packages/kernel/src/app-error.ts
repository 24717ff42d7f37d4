import { AssertionError } from 'node:assert';

/** Every error the product raises on purpose: its title for people, and whether trying again can help. */
export const ERRORS = {
  UNAUTHORIZED: { title: 'Authentication failed.', retriable: false },
  INSUFFICIENT_SCOPE: { title: 'The key lacks the scope of this route.', retriable: false },
  IDEMPOTENCY_KEY_REQUIRED: {
    title: 'The Idempotency-Key header is required, with at least 8 characters.',
    retriable: false,
  },
  VALIDATION_ERROR: { title: 'The request is invalid.', retriable: false },
  INVALID_DOCUMENT: { title: 'The CPF or CNPJ is invalid.', retriable: false },
  METHOD_NOT_SUPPORTED: { title: 'This payment method is not available in v1.', retriable: false },
  AMOUNT_BELOW_MINIMUM: {
    title: 'The amount is below the minimum of the operation.',
    retriable: false,
  },
  INVALID_WEBHOOK_URL: {
    title: 'The webhook URL must be http or https on a public host.',
    retriable: false,
  },
  ACCOUNT_INACTIVE: { title: 'The account is inactive.', retriable: false },
  INSUFFICIENT_BALANCE: {
    title: 'The available balance is lower than amount plus fee.',
    retriable: false,
  },
  PAYOUTS_DISABLED: { title: 'Payouts are disabled for this account.', retriable: false },
  PAYOUT_NOT_FOUND: { title: 'Payout not found.', retriable: false },
  /** Approve and cancel apply to payouts that wait in the queue; another outcome was faster. */
  PAYOUT_NOT_PENDING: {
    title: 'The payout is not waiting for approval any more.',
    retriable: false,
  },
  /** Four eyes (decision 123). */
  APPROVER_MUST_DIFFER: {
    title: 'A payout is approved by another operator than the one who requested it.',
    retriable: false,
  },
  WEBHOOK_NOT_FOUND: { title: 'Webhook endpoint not found.', retriable: false },
  INVALID_WEBHOOK_EVENT: {
    title: 'An event name is not in the catalog.',
    retriable: false,
  },
  CHARGE_NOT_FOUND: { title: 'Charge not found.', retriable: false },
  /** Cancel applies to charges that wait for their Pix; another outcome was faster (decision 75). */
  CHARGE_NOT_PENDING: { title: 'The charge is not waiting for a Pix any more.', retriable: false },
  /** Not paid, in a final state, or past the 90 days of a refund (decision 76). */
  CHARGE_NOT_REFUNDABLE: { title: 'The charge cannot be refunded.', retriable: false },
  /** Refunds and MED returns of a Pix never exceed it (decision 79). */
  REFUND_EXCEEDS_CHARGE: {
    title: 'The refund is higher than what is left of the charge.',
    retriable: false,
  },
  DISPUTE_NOT_FOUND: { title: 'Dispute not found.', retriable: false },
  /** A defence is sent while the dispute is open. */
  DISPUTE_CLOSED: { title: 'The dispute does not wait for a defence any more.', retriable: false },
  ACQUIRER_REJECTED: { title: 'The acquirer refused the operation.', retriable: false },
  NOT_FOUND: { title: 'Not found.', retriable: false },
  METHOD_NOT_ALLOWED: { title: 'Method not allowed.', retriable: false },
  PAYLOAD_TOO_LARGE: { title: 'The request body is too large.', retriable: false },
  RATE_LIMITED: { title: 'Too many requests with this key.', retriable: true },
  CONFLICT: { title: 'The resource does not allow this now.', retriable: false },
  INTERNAL_ERROR: { title: 'Unexpected failure.', retriable: true },
  /** Between services: the caller is known, and not one of those that the route is for. */
  CALLER_NOT_ALLOWED: { title: 'The caller may not use this route.', retriable: false },
  /** A database, broker or peer is away: wait for it, never dead-letter. */
  DEPENDENCY_UNAVAILABLE: { title: 'A dependency is unavailable.', retriable: true },
  /** A message is wrong in itself (schema, unknown type, broken invariant): dead-letter it. */
  MESSAGE_INVALID: { title: 'The message is invalid.', retriable: false },
} as const;

export type ErrorCode = keyof typeof ERRORS;

type AppErrorOptions = {
  /** For the log only; never shown to a caller. */
  message?: string;
  /** Shown to the caller instead of the code's title. */
  publicMessage?: string;
  /** Dotted paths, header, query or scope names; no prose (decision 10). */
  details?: readonly string[];
  /** Additive top-level keys of the error body, such as `charge_id` (decision 16). */
  extra?: Readonly<Record<string, string>>;
  cause?: unknown;
};

/** The one error class of the product. The HTTP shape lives in `packages/http`, statuses in `contracts/http`. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly publicMessage: string;
  readonly details: readonly string[];
  readonly extra: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.message ?? ERRORS[code].title, { cause: options.cause });
    this.code = code;
    this.publicMessage = options.publicMessage ?? ERRORS[code].title;
    this.details = options.details ?? [];
    this.extra = options.extra ?? {};
  }

  get retriable(): boolean {
    return ERRORS[this.code].retriable;
  }
}

/** Whether our own program failed on its input: a repeat fails as well, and no other system is the cause. */
export function isBug(error: unknown): boolean {
  return (
    error instanceof TypeError || error instanceof RangeError || error instanceof AssertionError
  );
}

/** Closes a switch over a union: unreachable by types, loud at run time. */
export function assertNever(value: never): never {
  throw new Error(`unreachable: ${String(value)}`);
}
