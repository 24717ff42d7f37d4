import type { SpanProcessor } from '@opentelemetry/sdk-trace';

/**
 * URLs carry secrets (the callback's path, a merchant's webhook query) and personal data; the route
 * template and the host say enough.
 */
const FORBIDDEN_ATTRIBUTES = [
  'url.full',
  'url.path',
  'url.query',
  'http.url',
  'http.target',
  'client.address',
  'network.peer.address',
] as const;

/** Wraps a span processor so that no forbidden attribute ever leaves the process. */
export function scrubSpans(next: SpanProcessor): SpanProcessor {
  return {
    onStart: (span, context) => next.onStart(span, context),
    onEnd: (span) => {
      for (const key of FORBIDDEN_ATTRIBUTES)
        delete (span.attributes as Record<string, unknown>)[key];
      next.onEnd(span);
    },
    forceFlush: () => next.forceFlush(),
    shutdown: () => next.shutdown(),
  };
}
