import { NoTurnError } from '@pixmesh/fair-share/no-turn-error';
import { AppError } from '@pixmesh/kernel/app-error';
import pg from 'pg';

/**
 * SQLSTATE classes that say "not now" rather than "not this": connection, a transaction that was ended or may not write
 * (25: idle too long, a server that has become a replica), one that lost against another (40: deadlock, serialization
 * failure), resources, operator (57: also a statement that ran too long), system.
 */
const UNAVAILABLE_CLASSES = new Set(['08', '25', '40', '53', '57', '58']);
/** Another transaction held a row longer than the lock timeout. */
const LOCK_TIMEOUT = '55P03';
const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);
const OPENED_TOO_LATE_MESSAGES = [
  'Connection terminated due to connection timeout',
  'timeout exceeded when trying to connect',
];
const UNAVAILABLE_MESSAGES = [
  ...OPENED_TOO_LATE_MESSAGES,
  'Connection terminated',
  'timeout expired',
  'Query read timeout',
  'Client has encountered a connection error',
];

const AWAY = 'database unavailable';

/** Turns "the database is away" into a retriable `AppError`; every other error stays what it is. */
export function databaseError(error: unknown): unknown {
  // Without its cause: a database that hangs is not too much work of one account.
  if (error instanceof NoTurnError) {
    return new AppError('DEPENDENCY_UNAVAILABLE', { message: `${AWAY}: ${error.message}` });
  }
  if (error instanceof AppError || !isUnavailable(error)) return error;
  return new AppError('DEPENDENCY_UNAVAILABLE', { message: AWAY, cause: error });
}

/** Whether `databaseError` has found that the database is away. */
export function isDatabaseAway(error: unknown): boolean {
  return error instanceof AppError && error.code === 'DEPENDENCY_UNAVAILABLE';
}

/** SQLSTATE classes that blame what is written: data exceptions, broken constraints, a raised exception. */
const BLAMES_CONTENT = /^(22|23|P0)/;

/**
 * Whether the database refused a statement for what it says. What else it may answer (a time limit, no writes now)
 * blames nothing that was written.
 */
export function blamesContent(error: unknown): boolean {
  if (error instanceof AppError) return false;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && BLAMES_CONTENT.test(code);
}

/** The name of the violated constraint, or null when the error is none of that kind. */
export function violatedConstraint(error: unknown): string | null {
  const { code, constraint } = error as { code?: string; constraint?: string };
  return code?.startsWith('23') ? (constraint ?? null) : null;
}

/** Whether the transaction lost against another one and succeeds when it is run again from its start. */
export function isRepeatable(error: unknown): boolean {
  const code = sqlStateOf(error);
  return code === '40001' || code === '40P01';
}

/** Whether another transaction held a row longer than the lock timeout. */
export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === LOCK_TIMEOUT;
}

/** Also of what `databaseError` has made of it. */
function sqlStateOf(error: unknown): unknown {
  const cause = error instanceof AppError ? error.cause : error;
  return (cause as { code?: unknown } | undefined)?.code;
}

/** Whether `databaseError` spoke of the connection itself, not of an answer that came over it. */
export function isConnectionLost(error: unknown): error is AppError {
  return (
    error instanceof AppError &&
    error.message === AWAY &&
    !(error.cause instanceof pg.DatabaseError)
  );
}

/** Whether a connection was not open in time, so that nothing was sent over it. */
export function isOpenedTooLate(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  return cause instanceof Error && OPENED_TOO_LATE_MESSAGES.includes(cause.message);
}

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string') {
    if (SOCKET_CODES.has(code) || code === LOCK_TIMEOUT) return true;
    if (code.length === 5) return UNAVAILABLE_CLASSES.has(code.slice(0, 2));
  }
  return UNAVAILABLE_MESSAGES.some((text) => error.message.startsWith(text));
}
