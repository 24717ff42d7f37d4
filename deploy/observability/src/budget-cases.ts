import { fires, type RuleCase } from './rule-case.ts';

type Kind = 'Creation' | 'Api' | 'Delivery';
const KINDS: readonly Kind[] = ['Creation', 'Api', 'Delivery'];

const CREATION = 'service="gateway",listener="public",method="POST",route="/v1/charges"';
const READ = 'service="gateway",listener="public",method="GET",route="/v1/charges/:id"';
const FIRST = 'webhook_event_to_first_attempt_seconds';

/** Intervals with good events alone, and then with bad ones beside them. */
type Course = { before: number; burning: number };

/**
 * A thousand good events an interval, and from a moment on so many times the budget beside them: of creations the
 * budget is 0.05 %, of the others 0.1 %.
 */
function burning(kind: Kind, speed: number, course: Course): RuleCase['series'] {
  const bad = kind === 'Creation' ? speed / 2 : speed;
  const { before } = course;
  const good = `0+1000x${before + course.burning}`;
  if (kind === 'Delivery') {
    const all = `0+1000x${before} ${1000 * (before + 1)}+${1000 + bad}x${course.burning}`;
    // As Prometheus 2 and 3 store it, half of them each.
    const half = `0+500x${before + course.burning}`;
    return {
      [`${FIRST}_bucket{le="5"}`]: half,
      [`${FIRST}_bucket{le="5.0"}`]: half,
      [`${FIRST}_count`]: all,
    };
  }
  const series = `http_server_duration_seconds_count{${kind === 'Creation' ? CREATION : READ}`;
  return {
    [`${series},status="200"}`]: good,
    [`${series},status="500"}`]: `0x${before} 0+${bad}x${course.burning}`,
  };
}

/**
 * Each minute: 20 times as fast is seen over an hour after most of it, 8 times as fast over six hours after most of
 * them.
 */
export const BURN_CASES: readonly RuleCase[] = KINDS.flatMap((kind) => [
  fires(`${kind}ErrorBudgetBurnFast`, burning(kind, 20, { before: 120, burning: 120 }), {
    silentAt: '125m',
    firesAt: '175m',
  }),
  fires(`${kind}ErrorBudgetBurnSlow`, burning(kind, 8, { before: 480, burning: 400 }), {
    silentAt: '540m',
    firesAt: '800m',
  }),
]);

/** What lasts for days, each ten minutes: 4 times as fast is seen over three days after more than one of them. */
export const DAYS_CASES: readonly RuleCase[] = [
  ...KINDS.map((kind) =>
    fires(`${kind}ErrorBudgetBurnLow`, burning(kind, 4, { before: 432, burning: 200 }), {
      silentAt: '4680m',
      firesAt: '5800m',
    }),
  ),
  fires(
    'PayoutsStopForgotten',
    { 'payouts_stopped{cause="operator"}': '1x200' },
    { silentAt: '1430m', firesAt: '1450m', labels: { cause: 'operator' } },
  ),
];
