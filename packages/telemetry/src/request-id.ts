import { type Context, context, createContextKey, trace } from '@opentelemetry/api';
import type { SpanProcessor } from '@opentelemetry/sdk-trace';

/** Of a span; log lines and messages call it `request_id`. */
const SPAN_ATTRIBUTE = 'pixmesh.request_id';
const KEY = createContextKey('pixmesh.request_id');

/** The id of the request on whose behalf this code runs; null where there is none. */
export function currentRequestId(): string | null {
  return requestIdIn(context.active());
}

/** Runs `work` on behalf of a request: its log lines, spans, calls and messages carry the id. */
export function runForRequest<T>(id: string, work: () => T): T {
  // The server's span has begun by now.
  trace.getActiveSpan()?.setAttribute(SPAN_ATTRIBUTE, id);
  return context.with(withRequestId(context.active(), id), work);
}

/** `work` for a later moment, such as an event of a stream, on behalf of the request of this one. */
export function bindToRequest<Arguments extends unknown[]>(
  work: (...given: Arguments) => void,
): (...given: Arguments) => void {
  return context.bind(context.active(), work);
}

export function requestIdIn(within: Context): string | null {
  return (within.getValue(KEY) as string | undefined) ?? null;
}

export function withRequestId(within: Context, id: string | null): Context {
  return id === null ? within.deleteValue(KEY) : within.setValue(KEY, id);
}

/** Puts the id on every span that begins on behalf of a request, those of libraries too. */
export function requestIdOnSpans(): SpanProcessor {
  const nothing = async (): Promise<void> => undefined;
  return {
    onStart: (span, parent) => {
      const id = requestIdIn(parent);
      if (id !== null) span.setAttribute(SPAN_ATTRIBUTE, id);
    },
    onEnd: () => undefined,
    forceFlush: nothing,
    shutdown: nothing,
  };
}
