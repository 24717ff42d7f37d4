import { ALERTS, runbookOf } from './alerts.ts';
import type { RuleCase } from './rule-case.ts';

/** Files of `promtool test rules`: each case is silent at one moment and fires at another. */
export function renderRuleTests(cases: readonly RuleCase[], interval: string): object {
  return {
    rule_files: ['recording.yml', 'rules.yml'],
    evaluation_interval: interval,
    // Without an order promtool takes groups as they come, and alerts may see the records of the turn before.
    group_eval_order: ['service levels', 'pixmesh'],
    tests: cases.map((one) => ({
      name: one.name,
      interval,
      input_series: Object.entries(one.series).map(([series, values]) => ({ series, values })),
      alert_rule_test: [
        ...(one.silentAt === undefined ? [] : [expectation(one, one.silentAt, false)]),
        expectation(one, one.firesAt, true),
      ],
    })),
  };
}

function expectation(one: RuleCase, at: string, fires: boolean): object {
  const alert = ALERTS.find(({ name }) => name === one.alert);
  if (alert === undefined) throw new Error(`no alert ${one.alert}`);
  const { severity, meaning: summary, dashboard } = alert;
  const expected = {
    exp_labels: { severity, ...one.labels },
    exp_annotations: { summary, runbook: runbookOf(alert), dashboard },
  };
  return { eval_time: at, alertname: one.alert, exp_alerts: fires ? [expected] : [] };
}
