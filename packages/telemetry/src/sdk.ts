import { hostname } from 'node:os';

import { context, createNoopMeter, metrics, propagation, trace } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { RedisInstrumentation } from '@opentelemetry/instrumentation-redis';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';

import { isRead } from './metrics.ts';
import { startProcessMetrics } from './process-metrics.ts';
import { requestIdOnSpans } from './request-id.ts';
import { createSampler } from './sampler.ts';
import { scrubSpans } from './scrub-spans.ts';
import { createTracePropagator } from './trace-propagator.ts';

/** Spans wait at most this long for their batch; short, because tests and people read them at once. */
const SPAN_EXPORT_DELAY_MS = 500;
const SPAN_QUEUE_MAX = 8_192;
const FLUSH_TIMEOUT_MS = 3_000;

/** Health and metrics requests would drown every trace. */
const UNTRACED_PATHS = new Set(['/livez', '/readyz', '/metrics']);

let sdk: NodeSDK | null = null;
let prometheus: PrometheusExporter | null = null;
let ofProcess: ReturnType<typeof startProcessMetrics> | null = null;

/**
 * Starts metrics always, and tracing where `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or `OTEL_EXPORTER_OTLP_ENDPOINT` names
 * a collector: spans that nobody receives would only cost time.
 */
export function startTelemetry(serviceName: string, env: NodeJS.ProcessEnv): void {
  prometheus = new PrometheusExporter({ preventServerStart: true });
  ofProcess = startProcessMetrics();
  const traced = Boolean(
    env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_ENDPOINT'],
  );
  const libraries = traced ? instrumentations() : [];
  sdk = new NodeSDK({
    serviceName,
    // Which of the service's processes it was.
    resource: resourceFromAttributes({ 'service.instance.id': `${hostname()}:${process.pid}` }),
    metricReaders: [prometheus],
    // Without this the SDK prepares an exporter of logs to a collector that nobody named.
    logRecordProcessors: [],
    autoDetectResources: false,
    sampler: createSampler(env),
    textMapPropagator: createTracePropagator(),
    spanProcessors: traced ? [requestIdOnSpans(), scrubSpans(batched())] : [],
    instrumentations: libraries,
  });
  sdk.start();
  // Their metrics repeat ours, with the host of each merchant's receiver as a label.
  for (const library of libraries) library.setMeterProvider({ getMeter: createNoopMeter });
}

/** All metrics of this process in Prometheus's text format; null where it was started without the preload. */
export async function renderMetrics(): Promise<string | null> {
  if (prometheus === null || ofProcess === null) return null;
  const { resourceMetrics } = await prometheus.collect();
  const scopeMetrics = resourceMetrics.scopeMetrics.map((scope) => ({
    ...scope,
    metrics: scope.metrics.map(withoutUnread),
  }));
  // The scope is the same everywhere, and would be a label of every series.
  const own = new PrometheusSerializer(undefined, false, undefined, false, true);
  return own.serialize({ ...resourceMetrics, scopeMetrics }) + (await ofProcess.render());
}

function withoutUnread(metric: MetricData): MetricData {
  if (metric.dataPointType !== DataPointType.GAUGE) return metric;
  const { name } = metric.descriptor;
  const dataPoints = metric.dataPoints.filter(({ attributes }) => isRead(name, attributes));
  return { ...metric, dataPoints };
}

/** Last step of a graceful stop: sends what is buffered, within a bound, and never throws. */
export async function stopTelemetry(): Promise<void> {
  const stopping = sdk?.shutdown().catch(() => undefined);
  const timeout = AbortSignal.timeout(FLUSH_TIMEOUT_MS);
  await Promise.race([
    stopping,
    new Promise<void>((resolve) => timeout.addEventListener('abort', () => resolve())),
  ]);
  // A tracer that has been shut down would still give new span ids to work that goes on in this process.
  for (const api of [trace, context, propagation, metrics]) api.disable();
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
