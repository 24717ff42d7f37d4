import protobuf from 'protobufjs';

export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  name: string;
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer' | 'unspecified';
  service: string;
  /** Which of the service's processes. */
  instance: string;
  startNs: bigint;
  endNs: bigint;
  attributes: Record<string, string | number | boolean>;
};

/** The part of `opentelemetry.proto.trace.v1` that says what a span is; field numbers are the protocol's. */
const TRACES = protobuf
  .parse(
    `syntax = "proto3";
   message Value { oneof value { string stringValue = 1; bool boolValue = 2; int64 intValue = 3; double doubleValue = 4; } }
   message KeyValue { string key = 1; Value value = 2; }
   message Resource { repeated KeyValue attributes = 1; }
   message Span { bytes traceId = 1; bytes spanId = 2; bytes parentSpanId = 4; string name = 5; int32 kind = 6;
                  fixed64 start = 7; fixed64 end = 8; repeated KeyValue attributes = 9; }
   message ScopeSpans { repeated Span spans = 2; }
   message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopeSpans = 2; }
   message Traces { repeated ResourceSpans resourceSpans = 1; }`,
  )
  .root.lookupType('Traces');

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

type Attribute = { key: string; value?: Record<string, string | number | boolean> };
type WireSpan = {
  traceId: Uint8Array;
  spanId: Uint8Array;
  parentSpanId?: Uint8Array;
  name: string;
  kind?: number;
  start: string;
  end: string;
  attributes?: Attribute[];
};
type WireTraces = {
  resourceSpans?: {
    resource?: { attributes?: Attribute[] };
    scopeSpans?: { spans?: WireSpan[] }[];
  }[];
};

/** Decodes an export request. */
export function readSpans(bytes: Uint8Array): ReceivedSpan[] {
  const traces = TRACES.toObject(TRACES.decode(bytes), { longs: String }) as WireTraces;
  return (traces.resourceSpans ?? []).flatMap(({ resource, scopeSpans = [] }) => {
    const of = toAttributes(resource?.attributes);
    const service = String(of['service.name'] ?? 'unknown');
    const instance = String(of['service.instance.id'] ?? 'unknown');
    return scopeSpans.flatMap(({ spans = [] }) =>
      spans.map((span) => ({ ...toSpan(service, span), instance })),
    );
  });
}

function toSpan(service: string, span: WireSpan): Omit<ReceivedSpan, 'instance'> {
  return {
    service,
    traceId: Buffer.from(span.traceId).toString('hex'),
    spanId: Buffer.from(span.spanId).toString('hex'),
    parentSpanId: span.parentSpanId?.length ? Buffer.from(span.parentSpanId).toString('hex') : null,
    name: span.name,
    kind: KINDS[span.kind ?? 0] ?? 'unspecified',
    startNs: BigInt(span.start),
    endNs: BigInt(span.end),
    attributes: toAttributes(span.attributes),
  };
}

function toAttributes(attributes: Attribute[] = []): Record<string, string | number | boolean> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, Object.values(value ?? {})[0] ?? '']),
  );
}
