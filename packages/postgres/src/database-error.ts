import { AppError } from '@pixmesh/kernel/app-error';

/** SQLSTATE classes and codes that say "not now" rather than "not this". */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58']);
/** Somebody held a row for longer than the lock timeout. */
const LOCK_NOT_AVAILABLE = '55P03';
const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'ENOENT',
]);
const UNAVAILABLE_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error',
];

/** Turns "the database is away" into a retriable `AppError`; every other error stays what it is. */
export function databaseError(error: unknown): unknown {
  if (error instanceof AppError || !isUnavailable(error)) return error;
  return new AppError('DEPENDENCY_UNAVAILABLE', { message: 'database unavailable', cause: error });
}

/** The name of the violated constraint, or null when the error is none of that kind. */
export function violatedConstraint(error: unknown): string | null {
  const { code, constraint } = error as { code?: string; constraint?: string };
  return code?.startsWith('23') ? (constraint ?? null) : null;
}

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string') {
    if (SOCKET_CODES.has(code) || code === LOCK_NOT_AVAILABLE) return true;
    // 57014 is a statement that ran too long: the database answers, the statement is the problem.
    if (code.length === 5) return UNAVAILABLE_CLASSES.has(code.slice(0, 2)) && code !== '57014';
  }
  return UNAVAILABLE_MESSAGES.some((text) => error.message.startsWith(text));
}
