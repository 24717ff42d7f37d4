import {
  ERROR_STATUS,
  type ErrorBody,
  isPublicErrorCode,
  PEER_STATUS,
} from '@pixmesh/contracts/http/error-body';
import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyError, FastifyReply } from 'fastify';

import { JSON_TYPE } from './json-type.ts';
import { explained, invalidRequest } from './refusal.ts';

const STATUSES = { ...ERROR_STATUS, ...PEER_STATUS };

export type ErrorAnswer = { status: number; body: ErrorBody };

const BODY_TOO_LARGE = 'FST_ERR_CTP_BODY_TOO_LARGE';

const FRAMEWORK_CODES: Readonly<Record<string, () => AppError>> = {
  [BODY_TOO_LARGE]: () => new AppError('PAYLOAD_TOO_LARGE'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    invalidRequest({ name: 'body', expected: 'as many bytes as Content-Length says' }),
  FST_ERR_BAD_URL: () => new AppError('NOT_FOUND'),
  FST_ERR_INVALID_URL: () => new AppError('NOT_FOUND'),
  FST_ERR_MAX_PARAM_LENGTH: () => new AppError('NOT_FOUND'),
};

/** The one place where an error becomes a status and a body. What has no public code is `INTERNAL_ERROR`. */
export function toErrorAnswer(error: unknown): ErrorAnswer {
  const appError = asAppError(error);
  const code = isShown(appError.code) ? appError.code : 'INTERNAL_ERROR';
  const hidden = code !== appError.code;
  return {
    status: STATUSES[code],
    body: {
      code,
      message: hidden ? new AppError(code).publicMessage : appError.publicMessage,
      details: hidden ? [] : [...appError.details],
      ...appError.extra,
    },
  };
}

function isShown(code: string): code is keyof typeof STATUSES {
  return isPublicErrorCode(code) || Object.hasOwn(PEER_STATUS, code);
}

export function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  const { status, body } = toErrorAnswer(error);
  return reply.code(status).type(JSON_TYPE).send(JSON.stringify(body));
}

/** The framework's refusal of a large body says nothing of the limit. */
export function namingLimit(error: unknown, bytesMax: number): unknown {
  if ((error as { code?: unknown } | null)?.code !== BODY_TOO_LARGE) return error;
  return explained('PAYLOAD_TOO_LARGE', `At most ${bytesMax} bytes are read.`, { cause: error });
}

/** Whether the error is a bug or an outage of ours, to be logged with its stack. */
export function isUnexpected(error: unknown): boolean {
  return toErrorAnswer(error).status >= 500;
}

function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code = '', statusCode = 500 } = (error ?? {}) as Partial<FastifyError>;
  const known = FRAMEWORK_CODES[code];
  if (known) return known();
  // A request that breaks off in its body is the client's doing; so is whatever else fastify calls a 4xx.
  const isClientFault =
    code === 'ECONNRESET' || (code.startsWith('FST_') && statusCode >= 400 && statusCode < 500);
  return isClientFault
    ? invalidRequest({ name: 'body', expected: 'a whole body' })
    : new AppError('INTERNAL_ERROR', { cause: error });
}
