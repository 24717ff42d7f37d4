import { CAUSE_ALERTS } from './cause-alerts.ts';
import { MONEY_ALERTS } from './money-alerts.ts';
import { SERVICE_LEVEL_ALERTS } from './service-level-alerts.ts';

/** `page`: somebody acts now, at night too. `ticket`: on the next working day. `none`: not for people. */
type Severity = 'page' | 'ticket' | 'none';

export type Alert = {
  /** In the log of alerts, in the title of its runbook and in its rule test. */
  name: string;
  /** What the alert says, in one line. */
  meaning: string;
  severity: Severity;
  /** For how long `expr` has to have a result before the alert fires, as Prometheus writes it: `30s`, `1m`. */
  for: string;
  /** PromQL that has a result while the cause lasts. */
  expr: string;
  /** The dashboard that shows it first. */
  dashboard: string;
};

/** Every alert of an installation. Its runbook is `docs/runbooks/<name in kebab-case>.md` (`runbookOf`). */
export const ALERTS: readonly Alert[] = [
  ...CAUSE_ALERTS,
  ...MONEY_ALERTS,
  ...SERVICE_LEVEL_ALERTS,
  {
    name: 'DeadMansSwitch',
    meaning: 'always fires: when its receiver no longer gets it, monitoring is down',
    severity: 'none',
    for: '0s',
    expr: 'vector(1)',
    dashboard: 'mesh',
  },
];

/** The file of an alert's runbook, below the root of the repository. Burns of one budget share theirs. */
export function runbookOf({ name }: Pick<Alert, 'name'>): string {
  const title = name.replace(/(?<=Burn)(Fast|Slow|Low)$/, '');
  return `docs/runbooks/${title.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`;
}
