import { SERVICES } from './cause-alerts.ts';

/** Where the targets of a laptop stand; an installation names its own, or has a ServiceMonitor for each workload. */
const TARGETS_FILE = 'targets.json';
/** Scrapes cost little, and alerts with 30 s to wait need two of them. */
const INTERVAL = '15s';
/** `INTERNAL_PORT` of every container. */
const METRICS_PORT_OF_COMPOSE = 9090;
/** Below it everything of Grafana's own stands that is read from files. */
const DASHBOARDS_FOLDER = '/etc/grafana/dashboards';

/** Of a laptop's processes. */
export const PROMETHEUS = prometheus('127.0.0.1:9093', {
  file_sd_configs: [{ files: [TARGETS_FILE], refresh_interval: INTERVAL }],
});

/** Of `docker-compose.yml`: each name of a service has an address for each of its containers. */
export const PROMETHEUS_OF_COMPOSE = prometheus('alertmanager:9093', {
  dns_sd_configs: [
    {
      names: [...SERVICES, 'webhook-dispatcher-sender'],
      type: 'A',
      port: METRICS_PORT_OF_COMPOSE,
      refresh_interval: INTERVAL,
    },
  ],
  relabel_configs: [
    // A sender is a process of the dispatcher.
    {
      source_labels: ['__meta_dns_name'],
      regex: '(webhook-dispatcher)-sender|(.+)',
      replacement: '$1$2',
      target_label: 'service',
    },
  ],
});

function prometheus(alertmanager: string, targets: object) {
  return {
    global: { scrape_interval: INTERVAL, evaluation_interval: INTERVAL },
    rule_files: ['recording.yml', 'rules.yml'],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
    scrape_configs: [{ job_name: 'pixmesh', ...targets }],
  };
}

/** Receivers are the installation's own: each posts to an address that answers for it. */
export const ALERTMANAGER = {
  route: {
    receiver: 'tickets',
    group_by: ['alertname', 'service'],
    group_wait: '10s',
    group_interval: '1m',
    repeat_interval: '4h',
    routes: [
      {
        matchers: ['alertname = "DeadMansSwitch"'],
        receiver: 'heartbeat',
        group_wait: '0s',
        repeat_interval: '5m',
      },
      { matchers: ['severity = "page"'], receiver: 'pages' },
    ],
  },
  receivers: [{ name: 'pages' }, { name: 'tickets' }, { name: 'heartbeat' }],
  inhibit_rules: [
    // What follows from a store that is away. A service's Postgres explains only what that service lacks.
    {
      source_matchers: ['alertname = "PostgresDown"'],
      target_matchers: ['alertname = "OutboxStuck"'],
      equal: ['service'],
    },
    {
      // Which of its processes live is a table of that Postgres.
      source_matchers: ['alertname = "PostgresDown"', 'service = "webhook-dispatcher"'],
      target_matchers: ['alertname =~ "DeliveriesOverdue|IntakeDown|SenderDown|DispatcherApiDown"'],
    },
    {
      source_matchers: ['alertname = "KafkaDown"'],
      target_matchers: ['alertname =~ "OutboxStuck|ConsumerLagging"'],
    },
  ],
};

type Traces = { exporters: Record<string, object>; keptPercent: number };

/** Traces are many there, and where they go is the installation's own. */
export const INSTALLATION_TRACES: Traces = {
  exporters: { otlphttp: { endpoint: 'http://traces.example.com:4318' } },
  keptPercent: 5,
};
/** Each span is a line in the collector's log. */
export const LAPTOP_TRACES: Traces = {
  exporters: { debug: { verbosity: 'normal' } },
  keptPercent: 100,
};

/** A collector that keeps every trace with an error or a long wait, and a share of the rest. */
export function collector({ exporters, keptPercent }: Traces) {
  return {
    receivers: { otlp: { protocols: { http: { endpoint: '0.0.0.0:4318' } } } },
    processors: {
      memory_limiter: { check_interval: '1s', limit_mib: 512 },
      tail_sampling: {
        decision_wait: '30s',
        num_traces: 50_000,
        policies: [
          { name: 'errors', type: 'status_code', status_code: { status_codes: ['ERROR'] } },
          { name: 'slow', type: 'latency', latency: { threshold_ms: 2_000 } },
          {
            name: 'share',
            type: 'probabilistic',
            probabilistic: { sampling_percentage: keptPercent },
          },
        ],
      },
      batch: {},
    },
    exporters,
    service: {
      pipelines: {
        traces: {
          receivers: ['otlp'],
          processors: ['memory_limiter', 'tail_sampling', 'batch'],
          exporters: Object.keys(exporters),
        },
      },
    },
  };
}

/** Dashboards name no source: they take the default. */
export const GRAFANA_DATASOURCE = {
  apiVersion: 1,
  datasources: [
    {
      name: 'Prometheus',
      type: 'prometheus',
      access: 'proxy',
      url: 'http://prometheus:9090',
      isDefault: true,
      editable: false,
      jsonData: { timeInterval: INTERVAL },
    },
  ],
};

export const GRAFANA_DASHBOARDS = {
  apiVersion: 1,
  providers: [
    { name: 'pixmesh', folder: 'Pixmesh', type: 'file', options: { path: DASHBOARDS_FOLDER } },
  ],
};
