import { stringify } from 'yaml';

import { type Alert, ALERTS, runbookOf } from './alerts.ts';
import { type Dashboard, DASHBOARDS, type Panel } from './dashboards.ts';
import { RECORDING_RULES } from './recording-rules.ts';
import { BURN_CASES, DAYS_CASES } from './budget-cases.ts';
import { CAUSE_CASES } from './cause-cases.ts';
import { renderRuleTests } from './render-rule-tests.ts';
import {
  ALERTMANAGER,
  collector,
  GRAFANA_DASHBOARDS,
  GRAFANA_DATASOURCE,
  PROMETHEUS,
  PROMETHEUS_OF_COMPOSE,
  INSTALLATION_TRACES,
  LAPTOP_TRACES,
} from './configurations.ts';

const COLUMNS = 2;
const WIDTH = 24 / COLUMNS;
const HEIGHT = 8;

const NOTE =
  '# Made from deploy/observability/src by `npm run observability`; a test holds it current.\n';

/** A chart reads no file outside of its folder. */
const CHART_FILES = '../helm/pixmesh/files';

const ALERT_GROUP = { name: 'pixmesh', rules: ALERTS.map(toRule) };
const RECORDING_GROUP = { name: 'service levels', interval: '30s', rules: RECORDING_RULES };

/** Every file that is made from the sources, by its path below `deploy/observability`. */
export function renderAll(): ReadonlyMap<string, string> {
  return new Map([
    ['prometheus/rules.yml', yaml({ groups: [ALERT_GROUP] })],
    ['prometheus/recording.yml', yaml({ groups: [RECORDING_GROUP] })],
    [`${CHART_FILES}/rules.yml`, yaml({ groups: [RECORDING_GROUP, ALERT_GROUP] })],
    ['prometheus/prometheus.yml', yaml(PROMETHEUS)],
    ['prometheus/alertmanager.yml', yaml(ALERTMANAGER)],
    ['prometheus/rules_test.yml', yaml(renderRuleTests(CAUSE_CASES, '15s'))],
    ['prometheus/burns_test.yml', yaml(renderRuleTests(BURN_CASES, '1m'))],
    ['prometheus/days_test.yml', yaml(renderRuleTests(DAYS_CASES, '10m'))],
    ['otel-collector.yml', yaml(collector(INSTALLATION_TRACES))],
    ['compose/prometheus.yml', yaml(PROMETHEUS_OF_COMPOSE)],
    ['compose/otel-collector.yml', yaml(collector(LAPTOP_TRACES))],
    ['compose/grafana-datasource.yml', yaml(GRAFANA_DATASOURCE)],
    ['compose/grafana-dashboards.yml', yaml(GRAFANA_DASHBOARDS)],
    ...['grafana', `${CHART_FILES}/dashboards`].flatMap((folder) =>
      DASHBOARDS.map((one): [string, string] => [
        `${folder}/${one.id}.json`,
        `${JSON.stringify(toGrafana(one), null, 2)}\n`,
      ]),
    ),
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
