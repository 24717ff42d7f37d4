import type { Attributes } from '@opentelemetry/api';
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

/** Libraries record errors as events and status texts, and some errors quote the data they refuse. */
const FORBIDDEN_EVENT_ATTRIBUTES = ['exception.message', 'exception.stacktrace'] as const;

/** Wraps a span processor so that nothing forbidden ever leaves the process. */
export function scrubSpans(next: SpanProcessor): SpanProcessor {
  return {
    onStart: (span, context) => next.onStart(span, context),
    onEnd: (span) => {
      remove(span.attributes, FORBIDDEN_ATTRIBUTES);
      for (const event of span.events) remove(event.attributes, FORBIDDEN_EVENT_ATTRIBUTES);
      if (!isErrorName(span.status.message)) delete span.status.message;
      next.onEnd(span);
    },
    forceFlush: () => next.forceFlush(),
    shutdown: () => next.shutdown(),
  };
}

function remove(attributes: Attributes | undefined, names: readonly string[]): void {
  for (const name of names) delete attributes?.[name];
}

/** `withSpan` gives the name of the error and nothing else. */
function isErrorName(message: string | undefined): boolean {
  return message === undefined || /^\w{1,40}$/.test(message);
}
