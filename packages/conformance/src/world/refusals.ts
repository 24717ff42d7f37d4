import { equal, ExpectationError, holds, shaped } from '../client/expectations.ts';
import type { Answer } from '../client/http-client.ts';
import { ErrorBody } from '../client/schemas.ts';

/** The table of errors, each code with its status, as the specification has it: nothing of the mesh is imported. */
export const ERROR_STATUS = {
  UNAUTHORIZED: 401,
  INSUFFICIENT_SCOPE: 403,
  IDEMPOTENCY_KEY_REQUIRED: 400,
  VALIDATION_ERROR: 400,
  INVALID_DOCUMENT: 400,
  METHOD_NOT_SUPPORTED: 400,
  AMOUNT_BELOW_MINIMUM: 400,
  INSUFFICIENT_BALANCE: 400,
  CHARGE_NOT_FOUND: 404,
  PAYOUT_NOT_FOUND: 404,
  WEBHOOK_NOT_FOUND: 404,
  PAYOUTS_DISABLED: 422,
  ACQUIRER_REJECTED: 422,
  INVALID_WEBHOOK_URL: 422,
  INTERNAL_ERROR: 500,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** An error in the documented form with this code or, where no code is documented, status; and these details. */
export function refused(
  answer: Answer,
  expected: ErrorCode | number,
  details?: readonly string[],
): ErrorBody {
  const code = typeof expected === 'number' ? undefined : expected;
  const status = typeof expected === 'number' ? expected : ERROR_STATUS[expected];
  if (answer.status !== status) {
    throw new ExpectationError(
      answer.request,
      `status ${status} ${code ?? ''}`,
      `status ${answer.status} ${answer.text}`,
    );
  }
  const body = shaped(ErrorBody, answer.json, `the error body of ${answer.request}`);
  isJson(answer);
  if (code !== undefined) equal(body.code, code, `${answer.request}: code`);
  if (details !== undefined) {
    equal([...body.details].sort(), [...details].sort(), `${answer.request}: details`);
  }
  return body;
}

export function isJson(answer: Answer): void {
  const types = answer.headers.get('content-type') ?? [];
  const what = `${answer.request}: Content-Type is application/json`;
  holds(types.length === 1 && /^application\/json\b/i.test(types[0] ?? ''), what, types);
}
