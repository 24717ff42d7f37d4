import {
  type Attributes,
  type Context,
  context,
  type Link,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';

/** A trace context as text (W3C `traceparent`), to be stored beside a row and continued later. */
export type TraceParent = string | null;

type SpanOptions = {
  kind?: 'internal' | 'producer' | 'consumer' | 'client';
  attributes?: Attributes;
  /** The stored context to continue; without it the active one is the parent. */
  parent?: TraceParent;
  /** The stored context of another trace that this one has to do with. */
  link?: TraceParent | undefined;
};

const SPAN_KINDS = {
  internal: SpanKind.INTERNAL,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
} as const;

/** The active trace context as text, or null where nothing is traced. */
export function currentTraceParent(): TraceParent {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier['traceparent'] ?? null;
}

/** Runs `work` inside a new span; an error is recorded on it and rethrown. */
export async function withSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const parent = options.parent === undefined ? context.active() : restore(options.parent);
  const kind = SPAN_KINDS[options.kind ?? 'internal'];
  const attributes = options.attributes ?? {};
  const started = { kind, attributes, links: linksTo(options.link ?? null) };
  return await tracer().startActiveSpan(name, started, parent, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: errorName(error) });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Starts and ends a span around something already known to have happened, and returns its context. */
export function recordSpan(name: string, options: SpanOptions): TraceParent {
  const parent = options.parent === undefined ? context.active() : restore(options.parent);
  const kind = SPAN_KINDS[options.kind ?? 'internal'];
  const span = tracer().startSpan(name, { kind, attributes: options.attributes ?? {} }, parent);
  const carrier: Record<string, string> = {};
  propagation.inject(trace.setSpan(parent, span), carrier);
  span.end();
  return carrier['traceparent'] ?? options.parent ?? null;
}

/** Names the server span after the route template, which the HTTP instrumentation cannot know. */
export function nameServerSpan(method: string, route: string): void {
  const span = trace.getActiveSpan();
  span?.updateName(`${method} ${route}`);
  span?.setAttribute('http.route', route);
}

/** Asked for each span: one that is kept would outlive the end of tracing. */
function tracer(): Tracer {
  return trace.getTracer('pixmesh');
}

function restore(traceparent: TraceParent): Context {
  const root = trace.deleteSpan(context.active());
  return traceparent === null ? root : propagation.extract(root, { traceparent });
}

function linksTo(traceparent: TraceParent): Link[] {
  const other = traceparent === null ? undefined : trace.getSpanContext(restore(traceparent));
  return other === undefined ? [] : [{ context: other }];
}

function errorName(error: unknown): string {
  return error instanceof Error ? error.name : 'Error';
}
