import { trace } from '@opentelemetry/api';
import { type Logger, pino } from 'pino';

export type { Logger };

/**
 * Paths that never reach a log, wherever a line carries them by mistake. Log calls name their fields one by
 * one; this list is the net below.
 */
const REDACTED = [
  'authorization',
  'api_key',
  'key',
  'secret',
  'webhook_secret',
  'document',
  'email',
  'phone',
  'body',
  'headers',
  '*.authorization',
  '*.secret',
  '*.document',
  '*.email',
  '*.headers',
  '*.body',
];

/** JSON lines on stdout, one logger per process, with the trace they belong to. */
export function createLogger(service: string, level: string = 'info'): Logger {
  return pino({
    level,
    base: { service },
    redact: { paths: REDACTED, censor: '[redacted]' },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    serializers: { err: describeError },
    mixin: () => {
      const span = trace.getActiveSpan()?.spanContext();
      return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
    },
  });
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
  return { name: error.name, code, message: error.message, stack: error.stack, cause };
}
