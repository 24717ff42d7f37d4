import { hostname } from 'node:os';

import { context, metrics, propagation } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { DataPointType, MeterProvider, type MetricData } from '@opentelemetry/sdk-metrics';

import { isRead } from './metrics.ts';
import { startProcessMetrics } from './process-metrics.ts';
import { setRunningTelemetry } from './running-telemetry.ts';
import { createTracePropagator } from './trace-propagator.ts';

/**
 * Starts metrics always, and tracing where `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or `OTEL_EXPORTER_OTLP_ENDPOINT` names
 * a collector: spans that nobody receives would only cost time. The modules of tracing, a third of all that a service
 * loads, are not loaded then.
 */
export async function startTelemetry(serviceName: string, env: NodeJS.ProcessEnv): Promise<void> {
  const prometheus = new PrometheusExporter({ preventServerStart: true });
  const ofProcess = startProcessMetrics();
  const resource = resourceFromAttributes({
    'service.name': serviceName,
    // Which of the service's processes it was.
    'service.instance.id': `${hostname()}:${process.pid}`,
  });
  const isTraced = Boolean(
    env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_ENDPOINT'],
  );
  const sdk = isTraced
    ? (await import('./traced-sdk.ts')).startTracedSdk({ resource, prometheus, env })
    : startUntraced(resource, prometheus);
  setRunningTelemetry({
    render: async () => (await renderOurs(prometheus)) + (await ofProcess.render()),
    shutdown: () => sdk.shutdown(),
  });
}

/**
 * A gauge that takes longer to read is left out of the scrape: Prometheus gives up after 10 s, and a database that
 * hangs must not hide what else is known.
 */
const READ_MS_MAX = 3_000;

/** The context that carries the id of a request, and metrics. */
function startUntraced(resource: Resource, prometheus: PrometheusExporter): MeterProvider {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(createTracePropagator());
  const provider = new MeterProvider({ resource, readers: [prometheus] });
  metrics.setGlobalMeterProvider(provider);
  return provider;
}

async function renderOurs(prometheus: PrometheusExporter): Promise<string> {
  const { resourceMetrics } = await prometheus.collect({ timeoutMillis: READ_MS_MAX });
  const scopeMetrics = resourceMetrics.scopeMetrics.map((scope) => ({
    ...scope,
    metrics: scope.metrics.map(withoutUnread),
  }));
  // The scope is the same everywhere, and would be a label of every series.
  const own = new PrometheusSerializer(undefined, false, undefined, false, true);
  return own.serialize({ ...resourceMetrics, scopeMetrics });
}

function withoutUnread(metric: MetricData): MetricData {
  if (metric.dataPointType !== DataPointType.GAUGE) return metric;
  const { name } = metric.descriptor;
  const dataPoints = metric.dataPoints.filter(({ attributes }) => isRead(name, attributes));
  return { ...metric, dataPoints };
}
