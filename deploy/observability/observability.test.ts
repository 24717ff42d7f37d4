import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { ALERTS, runbookOf } from './src/alerts.ts';
import { ALERTMANAGER } from './src/configurations.ts';
import { DASHBOARDS } from './src/dashboards.ts';
import { RECORDING_RULES } from './src/recording-rules.ts';
import { renderAll } from './src/render.ts';
import { BURN_CASES, DAYS_CASES } from './src/budget-cases.ts';
import { CAUSE_CASES } from './src/cause-cases.ts';

const FOLDER = import.meta.dirname;
const ROOT = path.resolve(FOLDER, '../..');
const CHART = readFileSync(path.join(ROOT, 'deploy/helm/pixmesh/values.yaml'), 'utf8');

/** Of Prometheus itself, and of the kubelet and kube-state-metrics where an installation has them. */
const FROM_OUTSIDE = [
  'up',
  'ALERTS',
  'kubelet_volume_stats_available_bytes',
  'kubelet_volume_stats_capacity_bytes',
  'kube_cronjob_status_last_successful_time',
  'kube_cronjob_created',
];
/** Of prom-client, whose names are its own. */
const OF_THE_PROCESS = [
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_open_fds',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_gc_duration_seconds_sum',
];

const DECLARED =
  /(?:counter|observedGauge|durationHistogram|createHistogram|createGauge|createCounter)\(\s*'([a-z_]+)'/g;

/** What a service declares, with the series that Prometheus makes of a histogram. */
function declaredMetrics(): Set<string> {
  const names = ['packages', 'services'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /^(?!.*node_modules).*\/src\/.*(?<!\.test)\.ts$/.test(file))
      .flatMap((file) => [
        ...readFileSync(path.join(ROOT, folder, file), 'utf8').matchAll(DECLARED),
      ])
      .map(([, name = '']) => name),
  );
  const series = names.flatMap((name) => [
    name,
    ...['bucket', 'count', 'sum'].map((of) => `${name}_${of}`),
  ]);
  return new Set([
    ...series,
    ...OF_THE_PROCESS,
    ...FROM_OUTSIDE,
    ...RECORDING_RULES.map(({ record }) => record),
  ]);
}

const NO_METRIC = new Set(
  'sum max min count by or and on abs time vector rate increase clamp_min absent label_replace min_over_time avg_over_time offset m h scalar histogram_quantile le'.split(
    ' ',
  ),
);

/** The names of series in PromQL: what is neither text, label, duration nor function. */
function namesIn(expr: string): string[] {
  const bare = expr
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\bby \([^)]*\)/g, '')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\[[^\]]*\]/g, '');
  return [...bare.matchAll(/[a-zA-Z_:][\w:]*/g)]
    .map(([name]) => name)
    .filter((name) => !NO_METRIC.has(name));
}

test('every generated file is current: `npm run observability` makes them', () => {
  for (const [file, text] of renderAll()) {
    expect([file, readFileSync(path.join(FOLDER, file), 'utf8')]).toEqual([file, text]);
  }
  const folders = [
    'grafana',
    'compose',
    '../helm/pixmesh/files',
    '../helm/pixmesh/files/dashboards',
  ];
  const kept = folders.flatMap((folder) =>
    readdirSync(path.join(FOLDER, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => `${folder}/${name}`),
  );
  expect(kept.filter((file) => !renderAll().has(file))).toEqual([]);
});

test('every metric that a rule, a panel or a scaler names is measured by a service', () => {
  const known = declaredMetrics();
  const queries = [
    ...ALERTS.map(({ expr }) => expr),
    ...RECORDING_RULES.map(({ expr }) => expr),
    ...DASHBOARDS.flatMap(({ panels }) =>
      panels.flatMap((one) => one.queries.map(({ expr }) => expr)),
    ),
    ...[...CHART.matchAll(/query: '?(max\([^\n']*?\))[,'\s]/g)].map(([, query = '']) => query),
  ];
  const named = new Set(queries.flatMap(namesIn));
  expect(named).toContain('webhook_due_lanes');
  expect(named.size).toBeGreaterThan(50);
  expect([...named].filter((name) => !known.has(name))).toEqual([]);
});

test('every alert has its runbook, its dashboard and a test of its rule; no runbook is without one', () => {
  const tested = new Set([...CAUSE_CASES, ...BURN_CASES, ...DAYS_CASES].map(({ alert }) => alert));
  const boards = new Set(DASHBOARDS.map(({ id }) => id));
  expect(ALERTS.filter((alert) => !existsSync(path.join(ROOT, runbookOf(alert))))).toEqual([]);
  expect(ALERTS.filter(({ name }) => !tested.has(name))).toEqual([]);
  expect(ALERTS.filter(({ dashboard }) => !boards.has(dashboard))).toEqual([]);
  const runbooks = readdirSync(path.join(ROOT, 'docs/runbooks')).filter(
    (file) => file !== 'README.md',
  );
  const wanted = new Set(ALERTS.map((alert) => path.basename(runbookOf(alert))));
  expect(runbooks.filter((file) => !wanted.has(file))).toEqual([]);
});

test('the table of runbooks says of each alert what the alert says, and how severe it is', () => {
  const text = readFileSync(path.join(ROOT, 'docs/runbooks/README.md'), 'utf8');
  const shown = [...text.matchAll(/^\| \[\w+\]\(([\w-]+\.md)\) \| (.+) \| (.+) \|$/gm)].map(
    ([, file, meaning, severity]) => [file, meaning, severity],
  );
  const runbooks = Map.groupBy(ALERTS, (alert) => path.basename(runbookOf(alert)));
  const expected = [...runbooks].map(([file, alerts]) => [
    file,
    [...new Set(alerts.map(meaningOfAllBurns))].join(', '),
    [...new Set(alerts.map(({ severity }) => severity))].join(' or '),
  ]);
  expect(shown.toSorted()).toEqual(expected.toSorted());
});

/** Burns of one budget share a runbook: what they say, without how fast it is used. */
function meaningOfAllBurns({ meaning }: { meaning: string }): string {
  return meaning.replace(/ [\d.]+ times as fast as it lasts, over \w+$/, ' faster than it lasts');
}

/** Whether an alert says which service it is about. */
function namesService(name: string): boolean {
  const alert = ALERTS.find((one) => one.name === name);
  if (alert === undefined) throw new Error(`no alert ${name}`);
  return /by \([^)]*\bservice\b/.test(alert.expr);
}

test('an alert about one service mutes no alert of another one', () => {
  for (const { source_matchers, target_matchers, equal = [] } of ALERTMANAGER.inhibit_rules) {
    const [sources, targets] = [source_matchers, target_matchers].map(([matcher = '']) =>
      matcher.replace(/^alertname =~? "(.+)"$/, '$1').split('|'),
    ) as [string[], string[]];
    const isOfOneService = source_matchers.some((matcher) => matcher.startsWith('service = '));
    if (!sources.some(namesService) || isOfOneService) continue;
    expect([targets, equal]).toEqual([targets, ['service']]);
    expect(targets.filter((name) => !namesService(name))).toEqual([]);
  }
});

test('while Postgres of the dispatcher is away, no alert says that its processes are gone', () => {
  const rule = ALERTMANAGER.inhibit_rules.find(({ source_matchers }) =>
    source_matchers.includes('service = "webhook-dispatcher"'),
  );
  const muted = rule?.target_matchers.join(',') ?? '';
  const readsProcesses = ALERTS.filter(({ expr }) => expr.includes('webhook_processes'));
  expect(readsProcesses).toHaveLength(3);
  expect(readsProcesses.filter(({ name }) => !muted.includes(name))).toEqual([]);
});

test('every runbook has its headings, and names no metric that is not measured', () => {
  const known = declaredMetrics();
  for (const alert of ALERTS) {
    const text = readFileSync(path.join(ROOT, runbookOf(alert)), 'utf8');
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['First three checks', 'Safe actions', 'Never', 'How it was tested']);
    const named = [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)(?:\{[^`]*)?`/g)].map(
      ([, name = '']) => name,
    );
    expect([alert.name, named.filter((name) => !known.has(name) && !NO_METRICS.has(name))]).toEqual(
      [alert.name, []],
    );
  }
});

const NO_METRICS = new Set([
  'dns_failed',
  'connect_failed',
  'tls_failed',
  'address_refused',
  'pg_cancel_backend',
  'too_many_connections',
  'read_only',
  'disk_full',
  'max_connections',
  'pg_wal',
  'archive_mode',
  'ledger_sum',
  'acquirer_balance',
  'acquirer_lists',
  'last_put_error',
  'pending_entries',
  'received_pix',
  'set_aside_events',
  'accounts_set_aside',
]);
