/** One test of a rule: what is measured, and when the alert is silent and when it fires. */
export type RuleCase = {
  name: string;
  alert: string;
  /** Series in promtool's notation, one value each interval. */
  series: Readonly<Record<string, string>>;
  silentAt?: string;
  firesAt: string;
  /** Labels of the alert besides its severity. */
  labels?: Readonly<Record<string, string>>;
};

type Times = Pick<RuleCase, 'firesAt'> & Partial<RuleCase>;

export function fires(alert: string, series: RuleCase['series'], times: Times): RuleCase {
  return { name: alert, alert, series, ...times };
}

/** A minute without it and then what is wrong, each 15 s. */
export function turns(from: number, to: number): string {
  return `${from}x4 ${to}x240`;
}
