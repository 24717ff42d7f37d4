import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  type Link,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';

import { requestIdIn, withRequestId } from './request-id.ts';

/**
 * A context as text, to be stored beside a row and continued later: W3C `traceparent`, and behind a semicolon the id of
 * the request that it belongs to. Either may be missing.
 */
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

const TRACE_ID_IN_PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-/;

/** The active context as text, or null where nothing is traced and no request is behind it. */
export function currentTraceParent(): TraceParent {
  return toText(context.active());
}

/** The id of the active trace, or null where nothing is traced. */
export function currentTraceId(): string | null {
  const active = trace.getSpanContext(context.active());
  return active && isSpanContextValid(active) ? active.traceId : null;
}

/** Runs `work` in a stored context, whatever is active. */
export function continueFrom<T>(parent: TraceParent, work: () => T): T {
  return context.with(restore(parent), work);
}

/** A stored context as headers of a message. */
export function toMessageHeaders(stored: TraceParent): Record<string, string> {
  const { traceparent, requestId } = split(stored);
  return {
    ...(traceparent === '' ? {} : { traceparent }),
    ...(requestId === null ? {} : { request_id: requestId }),
  };
}

/** The id of a stored context's trace, or null where it has none; in a process that traces nothing too. */
export function traceIdOf(stored: TraceParent): string | null {
  return TRACE_ID_IN_PARENT.exec(split(stored).traceparent)?.[1] ?? null;
}

/** The context that a message came with. */
export function fromMessageHeaders(headers: Readonly<Record<string, string>>): TraceParent {
  return join(headers['traceparent'] ?? '', headers['request_id'] ?? null);
}

/** Runs `work` inside a new span; an error is recorded on it and rethrown. */
export async function withSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const parent = parentContext(options);
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
  const parent = parentContext(options);
  const kind = SPAN_KINDS[options.kind ?? 'internal'];
  const span = tracer().startSpan(name, { kind, attributes: options.attributes ?? {} }, parent);
  const recorded = toText(trace.setSpan(parent, span));
  span.end();
  return recorded ?? options.parent ?? null;
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

/** A trace of its own that links to another one still belongs to the request behind that one. */
function parentContext({ parent, link }: SpanOptions): Context {
  if (parent === undefined) return context.active();
  const restored = restore(parent);
  return parent === null ? withRequestId(restored, split(link ?? null).requestId) : restored;
}

function restore(stored: TraceParent): Context {
  const { traceparent, requestId } = split(stored);
  const root = withRequestId(trace.deleteSpan(context.active()), requestId);
  return traceparent === '' ? root : propagation.extract(root, { traceparent });
}

function toText(within: Context): TraceParent {
  const carrier: Record<string, string> = {};
  propagation.inject(within, carrier);
  return join(carrier['traceparent'] ?? '', requestIdIn(within));
}

function join(traceparent: string, requestId: string | null): TraceParent {
  if (requestId === null) return traceparent === '' ? null : traceparent;
  return `${traceparent};${requestId}`;
}

function split(stored: TraceParent): { traceparent: string; requestId: string | null } {
  const [traceparent = '', requestId = null] = stored?.split(';') ?? [];
  return { traceparent, requestId };
}

function linksTo(traceparent: TraceParent): Link[] {
  const other = traceparent === null ? undefined : trace.getSpanContext(restore(traceparent));
  return other === undefined ? [] : [{ context: other }];
}

function errorName(error: unknown): string {
  return error instanceof Error ? error.name : 'Error';
}
