import { stringify } from 'yaml';

import { type Alert, ALERTS, runbookOf } from './alerts.ts';
import { type Dashboard, DASHBOARDS, type Panel } from './dashboards.ts';
import { RECORDING_RULES } from './recording-rules.ts';
import { BURN_CASES, CAUSE_CASES, LOW_BURN_CASES } from './rule-cases.ts';
import { renderRuleTests } from './render-rule-tests.ts';

/** Where the targets of a laptop stand; an installation names its own, or has a ServiceMonitor for each workload. */
const TARGETS_FILE = 'targets.json';
/** Scrapes cost little, and alerts with 30 s to wait need two of them. */
const INTERVAL = '15s';
const COLUMNS = 2;
const WIDTH = 24 / COLUMNS;
const HEIGHT = 8;

const NOTE =
  '# Made from deploy/observability/src by `npm run observability`; a test holds it current.\n';

/** Every file that is made from the sources, by its path below `deploy/observability`. */
export function renderAll(): ReadonlyMap<string, string> {
  return new Map([
    ['prometheus/rules.yml', yaml({ groups: [{ name: 'pixmesh', rules: ALERTS.map(toRule) }] })],
    [
      'prometheus/recording.yml',
      yaml({ groups: [{ name: 'service levels', interval: '30s', rules: RECORDING_RULES }] }),
    ],
    ['prometheus/prometheus.yml', yaml(PROMETHEUS)],
    ['prometheus/alertmanager.yml', yaml(ALERTMANAGER)],
    ['prometheus/rules_test.yml', yaml(renderRuleTests(CAUSE_CASES, '15s'))],
    ['prometheus/burns_test.yml', yaml(renderRuleTests(BURN_CASES, '1m'))],
    ['prometheus/low_burns_test.yml', yaml(renderRuleTests(LOW_BURN_CASES, '10m'))],
    ['otel-collector.yml', yaml(COLLECTOR)],
    ...DASHBOARDS.map((one): [string, string] => [
      `grafana/${one.id}.json`,
      `${JSON.stringify(toGrafana(one), null, 2)}\n`,
    ]),
  ]);
}

function yaml(value: unknown): string {
  return NOTE + stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

function toRule(alert: Alert): object {
  const { name, expr, severity, meaning, dashboard } = alert;
  return {
    alert: name,
    expr,
    for: alert.for,
    labels: { severity },
    annotations: { summary: meaning, runbook: runbookOf(alert), dashboard },
  };
}

const PROMETHEUS = {
  global: { scrape_interval: INTERVAL, evaluation_interval: INTERVAL },
  rule_files: ['recording.yml', 'rules.yml'],
  alerting: { alertmanagers: [{ static_configs: [{ targets: ['127.0.0.1:9093'] }] }] },
  scrape_configs: [
    {
      job_name: 'pixmesh',
      file_sd_configs: [{ files: [TARGETS_FILE], refresh_interval: INTERVAL }],
    },
  ],
};

/** Receivers are the installation's own: each posts to an address that answers for it. */
const ALERTMANAGER = {
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
    // Of a store that is away everything else follows.
    {
      source_matchers: ['alertname = "PostgresDown"'],
      target_matchers: ['alertname =~ "OutboxStuck|ConsumerLagging|DeliveriesOverdue"'],
    },
    {
      source_matchers: ['alertname = "KafkaDown"'],
      target_matchers: ['alertname =~ "OutboxStuck|ConsumerLagging"'],
    },
  ],
};

/** A collector that keeps every trace with an error or a long wait, and a share of the rest. */
const COLLECTOR = {
  receivers: { otlp: { protocols: { http: { endpoint: '0.0.0.0:4318' } } } },
  processors: {
    memory_limiter: { check_interval: '1s', limit_mib: 512 },
    tail_sampling: {
      decision_wait: '30s',
      num_traces: 50_000,
      policies: [
        { name: 'errors', type: 'status_code', status_code: { status_codes: ['ERROR'] } },
        { name: 'slow', type: 'latency', latency: { threshold_ms: 2_000 } },
        { name: 'share', type: 'probabilistic', probabilistic: { sampling_percentage: 5 } },
      ],
    },
    batch: {},
  },
  exporters: { otlphttp: { endpoint: 'http://traces.example.com:4318' } },
  service: {
    pipelines: {
      traces: {
        receivers: ['otlp'],
        processors: ['memory_limiter', 'tail_sampling', 'batch'],
        exporters: ['otlphttp'],
      },
    },
  },
};

function toGrafana({ id, title, panels }: Dashboard): object {
  return {
    uid: `pixmesh-${id}`,
    title: `Pixmesh: ${title}`,
    tags: ['pixmesh'],
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
    panels: panels.map(toGrafanaPanel),
  };
}

function toGrafanaPanel({ title, unit, queries }: Panel, place: number): object {
  const datasource = { type: 'prometheus', uid: '${datasource}' };
  return {
    id: place + 1,
    type: 'timeseries',
    title,
    datasource,
    gridPos: {
      x: (place % COLUMNS) * WIDTH,
      y: Math.floor(place / COLUMNS) * HEIGHT,
      w: WIDTH,
      h: HEIGHT,
    },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCodePoint('A'.codePointAt(0)! + index),
      datasource,
      expr,
      legendFormat: legend,
    })),
  };
}
