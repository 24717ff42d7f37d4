import { createNoopMeter } from '@opentelemetry/api';
import type { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { RedisInstrumentation } from '@opentelemetry/instrumentation-redis';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import type { Resource } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';

import { requestIdOnSpans } from './request-id.ts';
import { createSampler } from './sampler.ts';
import { scrubSpans } from './scrub-spans.ts';
import { createTracePropagator } from './trace-propagator.ts';

/** Spans wait at most this long for their batch; short, because tests and people read them at once. */
const SPAN_EXPORT_DELAY_MS = 500;
const SPAN_QUEUE_MAX = 8_192;

/** Health and metrics requests would drown every trace. */
const UNTRACED_PATHS = new Set(['/livez', '/readyz', '/metrics']);

type TracedOptions = { resource: Resource; prometheus: PrometheusExporter; env: NodeJS.ProcessEnv };

/** Metrics, and traces to the collector that the environment names. Libraries are traced that load after this. */
export function startTracedSdk({ resource, prometheus, env }: TracedOptions): NodeSDK {
  const libraries = instrumentations();
  const sdk = new NodeSDK({
    resource,
    metricReaders: [prometheus],
    // Without this the SDK prepares an exporter of logs to a collector that nobody named.
    logRecordProcessors: [],
    autoDetectResources: false,
    sampler: createSampler(env),
    textMapPropagator: createTracePropagator(),
    spanProcessors: [requestIdOnSpans(), scrubSpans(batched())],
    instrumentations: libraries,
  });
  sdk.start();
  // Their metrics repeat ours, with the host of each merchant's receiver as a label.
  for (const library of libraries) library.setMeterProvider({ getMeter: createNoopMeter });
  return sdk;
}

function batched(): BatchSpanProcessor {
  return new BatchSpanProcessor({
    exporter: new OTLPTraceExporter(),
    scheduledDelayMillis: SPAN_EXPORT_DELAY_MS,
    maxQueueSize: SPAN_QUEUE_MAX,
  });
}

/**
 * Kafka is traced by `packages/kafka` itself: the library's instrumentation overwrites the trace context
 * that an event carries from its own transaction, and cannot follow `eachBatch`.
 */
function instrumentations() {
  return [
    new HttpInstrumentation({
      disableOutgoingRequestInstrumentation: true,
      ignoreIncomingRequestHook: (request) => UNTRACED_PATHS.has(request.url ?? ''),
    }),
    new UndiciInstrumentation({ requireParentforSpans: true }),
    new PgInstrumentation({ requireParentSpan: true }),
    new RedisInstrumentation({ requireParentSpan: true }),
  ];
}
