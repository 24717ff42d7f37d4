import {
  type Context,
  type TextMapGetter,
  type TextMapPropagator,
  type TextMapSetter,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';

/**
 * `traceparent` alone. Baggage and `tracestate` are free text, which any caller may send and which would leave the mesh
 * for the acquirer and the receivers of other merchants; nothing of ours writes either.
 */
export function createTracePropagator(): TextMapPropagator {
  const w3c = new W3CTraceContextPropagator();
  return {
    inject: (context: Context, carrier: unknown, setter: TextMapSetter) =>
      w3c.inject(context, carrier, setter),
    extract: (context: Context, carrier: unknown, getter: TextMapGetter) =>
      withoutTraceState(w3c.extract(context, carrier, getter)),
    fields: () => ['traceparent'],
  };
}

function withoutTraceState(context: Context): Context {
  const { traceState, ...span } = trace.getSpanContext(context) ?? {};
  if (traceState === undefined || !('traceId' in span)) return context;
  return trace.setSpanContext(context, span);
}
