import { isSpanContextValid, trace } from '@opentelemetry/api';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

import { REDACTED, REDACTED_NAMES } from './redact.ts';
import { currentRequestId } from './request-id.ts';

export type { Logger };

/**
 * Paths that never reach a log, wherever a line carries them by mistake. Log calls name their fields one by
 * one; this list is the net below.
 */
const REDACTED_PATHS = REDACTED_NAMES.flatMap((name) => [`["${name}"]`, `*["${name}"]`]);

/** JSON lines on stdout, one logger per process, with the request and the trace they belong to. */
export function createLogger(
  service: string,
  level: string = 'info',
  destination: DestinationStream = pino.destination(1),
): Logger {
  const options: LoggerOptions = {
    level,
    base: { service },
    redact: { paths: REDACTED_PATHS, censor: REDACTED },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    serializers: { err: (error: unknown) => describeError(error) },
    hooks: {
      // Without a message of its own, a line would take over the error's, past the serializer.
      logMethod(args, method) {
        const isNameless = args.length === 1 && typeof args[0] !== 'string';
        method.apply(this, isNameless ? [args[0], ''] : args);
      },
    },
    mixin: () => {
      const span = trace.getActiveSpan()?.spanContext();
      const requestId = currentRequestId();
      return {
        ...(requestId === null ? {} : { request_id: requestId }),
        // A process that traces nothing has spans all the same, with ids of zeros.
        ...(span && isSpanContextValid(span)
          ? { trace_id: span.traceId, span_id: span.spanId }
          : {}),
      };
    },
  };
  return pino(options, destination);
}

/** How deep a chain of causes is followed. */
const CAUSES_MAX = 5;

/**
 * Name, message, code and stack, never the other fields: a database error's `detail` quotes the failing row.
 */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { name: typeof error };
  const code = (error as { code?: unknown }).code;
  const cause =
    depth < CAUSES_MAX && error.cause ? describeError(error.cause, depth + 1) : undefined;
  return { name: error.name, code, message: messageOf(error), stack: stackOf(error), cause };
}

/** The stack of an error, as it may be logged. */
export function stackOf(error: Error): string {
  const frames = (error.stack ?? '').split('\n').filter((line) => /^ +at /.test(line));
  return [`${error.name}: ${messageOf(error)}`, ...frames].join('\n');
}

/** The message of an error, as it may be logged and stored. */
export function messageOf(error: Error): string {
  return quotesItsInput(error) ? '(quotes its input)' : error.message;
}

/** Broken JSON, and data that Postgres refuses (SQLSTATE class 22), stand word for word in the message. */
function quotesItsInput(error: Error): boolean {
  const code = (error as { code?: unknown }).code;
  return error instanceof SyntaxError || (typeof code === 'string' && /^22[0-9A-Z]{3}$/.test(code));
}
