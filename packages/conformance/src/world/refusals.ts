import type { Answer } from '../client/http-client.ts';
import { ErrorBody } from '../client/schemas.ts';
import { ExpectationError, equal, holds, shaped } from '../client/expectations.ts';

export type Refusal = { status: number; code?: string; details?: readonly string[] };

/** An error in the documented form with this status, code and details, as far as they are given. */
export function refused(answer: Answer, expected: Refusal): ErrorBody {
  if (answer.status !== expected.status) {
    throw new ExpectationError(
      answer.request,
      `status ${expected.status} ${expected.code ?? ''}`,
      `status ${answer.status} ${answer.text}`,
    );
  }
  const body = shaped(ErrorBody, answer.json, `the error body of ${answer.request}`);
  isJson(answer);
  if (expected.code !== undefined) equal(body.code, expected.code, `${answer.request}: code`);
  if (expected.details !== undefined) {
    equal([...body.details].sort(), [...expected.details].sort(), `${answer.request}: details`);
  }
  return body;
}

export function isJson(answer: Answer): void {
  const types = answer.headers.get('content-type') ?? [];
  const what = `${answer.request}: Content-Type is application/json`;
  holds(types.length === 1 && /^application\/json\b/i.test(types[0] ?? ''), what, types);
}
