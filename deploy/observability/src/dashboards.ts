import { SERVICES } from './cause-alerts.ts';
import { ACQUIRER_BALANCE } from './money-alerts.ts';
import { SERVICE_LEVELS } from './service-levels.ts';

export type Panel = {
  title: string;
  /** Each a PromQL query with the legend of its series. */
  queries: readonly { expr: string; legend: string }[];
  /** Grafana's name of the unit. */
  unit: 'short' | 's' | 'ops' | 'bytes' | 'percentunit' | 'currencyBRL';
};

export type Dashboard = { id: string; title: string; panels: readonly Panel[] };

type Unit = Panel['unit'];

function panel(title: string, unit: Unit, ...queries: readonly [string, string][]): Panel {
  return { title, unit, queries: queries.map(([expr, legend]) => ({ expr, legend })) };
}

/** `selected` is the histogram's name with its selector, where it has one. */
function quantile(share: number, selected: string, by: string): string {
  const [, histogram = '', selector = ''] = /^(\w+)(.*)$/.exec(selected) ?? [];
  return `histogram_quantile(${share}, sum by (le, ${by}) (rate(${histogram}_bucket${selector}[5m])))`;
}

const mesh: Dashboard = {
  id: 'mesh',
  title: 'Mesh',
  panels: [
    panel('Processes that answer', 'short', ['sum by (service) (up)', '{{service}}']),
    panel('Alerts', 'short', [
      'sum by (alertname, severity) (ALERTS{alertstate="firing"})',
      '{{alertname}}',
    ]),
    panel('Requests', 'ops', [
      'sum by (service, listener) (rate(http_server_duration_seconds_count[5m]))',
      '{{service}} {{listener}}',
    ]),
    panel('Failures of ours', 'ops', [
      'sum by (service, route) (rate(http_server_duration_seconds_count{status=~"5.."}[5m])) or vector(0)',
      '{{service}} {{route}}',
    ]),
    panel('Time to answer, p99', 's', [
      quantile(0.99, 'http_server_duration_seconds', 'service, listener'),
      '{{service}} {{listener}}',
    ]),
    panel(
      'Budgets: share that failed, 1 h',
      'percentunit',
      ...SERVICE_LEVELS.map(({ id }): [string, string] => [
        `service_level:${id}:failed_ratio_1h`,
        id,
      ]),
    ),
    panel('CPU', 'percentunit', [
      'sum by (service) (rate(process_cpu_seconds_total[5m]))',
      '{{service}}',
    ]),
    panel('Resident memory', 'bytes', [
      'max by (service, instance) (process_resident_memory_bytes)',
      '{{service}} {{instance}}',
    ]),
    panel('Event loop, p99 of samples of 0.1 s', 's', [
      'max by (service) (nodejs_eventloop_lag_p99_seconds)',
      '{{service}}',
    ]),
    panel('Work that waits for its turn, but for connections to Postgres', 'short', [
      'sum by (service, queue) (fair_share_waiting{queue!~"postgres.*"}) or vector(0)',
      '{{service}} {{queue}}',
    ]),
    panel('Wait for a turn, but for connections to Postgres, p99', 's', [
      quantile(0.99, 'fair_share_wait_seconds{queue!~"postgres.*"}', 'service, queue'),
      '{{service}} {{queue}}',
    ]),
    panel('Work that had no turn', 'ops', [
      'sum by (service, queue, reason) (rate(fair_share_refused_total[5m])) or vector(0)',
      '{{service}} {{queue}} {{reason}}',
    ]),
    panel('Redis connected', 'short', ['min by (service) (redis_up)', '{{service}}']),
    panel('Certificates: days left', 'short', [
      'min by (certificate) (certificate_expires_timestamp_seconds - time()) / 86400',
      '{{certificate}}',
    ]),
    panel('Clock against Postgres', 's', [
      'max by (service) (abs(postgres_clock_offset_seconds))',
      '{{service}}',
    ]),
  ],
};

const money: Dashboard = {
  id: 'money',
  title: 'Money',
  panels: [
    panel('Charges created', 'ops', ['sum(rate(charges_created_total[5m]))', 'created']),
    panel('Charges by new status', 'ops', [
      'sum by (status) (rate(charges_moved_total[5m]))',
      '{{status}}',
    ]),
    panel('Oldest charge in processing', 's', [
      'max(charges_processing_oldest_age_seconds)',
      'processing',
    ]),
    panel('Oldest routine check of a charge that is due', 's', [
      'max(charges_due_check_oldest_age_seconds)',
      'due',
    ]),
    panel('Paid in the last hour, BRL', 'currencyBRL', [
      'sum(increase(charges_moved_cents_total{status="paid"}[1h])) / 100',
      'paid',
    ]),
    panel('Payouts created', 'ops', ['sum(rate(payouts_created_total[5m]))', 'created']),
    panel('Payouts by new status', 'ops', [
      'sum by (status) (rate(payouts_moved_total[5m]))',
      '{{status}}',
    ]),
    panel('Paid out in the last hour, BRL', 'currencyBRL', [
      'sum(increase(payouts_moved_cents_total{status="completed"}[1h])) / 100',
      'completed',
    ]),
    panel(
      'Balance at the acquirer and payouts due, BRL',
      'currencyBRL',
      [`${ACQUIRER_BALANCE} / 100`, 'balance'],
      ['max(payouts_due_cents) / 100', 'due'],
    ),
    panel(
      'Payouts that wait',
      'short',
      ['max(payouts_unsent)', 'unsent'],
      ['max(payouts_unanswered)', 'unanswered'],
      ['max(payouts_resting)', 'resting'],
      ['sum(max by (cause) (payouts_stopped))', 'stops'],
    ),
    panel(
      'Suspense, BRL and items',
      'short',
      ['max(ledger_suspense_open_cents) / 100', 'BRL'],
      ['max(ledger_suspense_open)', 'items'],
    ),
    panel(
      'Oldest money and notices that wait',
      's',
      ['max(ledger_oldest_suspense_age_seconds)', 'in suspense'],
      ['max(ledger_oldest_due_release_age_seconds)', 'release due'],
      ['max(pix_notice_oldest_age_seconds)', 'announced Pix'],
    ),
    panel("Time since the acquirer's lists were read to their end", 's', [
      'max by (list) (acquirer_list_lag_seconds)',
      '{{list}}',
    ]),
    panel('Breaks', 'short', [
      'sum by (check) (max by (check, kind) (reconciliation_breaks)) or vector(0)',
      '{{check}}',
    ]),
    panel('Time since the last reconciliation', 's', [
      'max by (service) (reconciliation_age_seconds)',
      '{{service}}',
    ]),
    panel('Calls at the acquirer', 'ops', [
      'sum by (operation, outcome) (rate(acquirer_call_duration_seconds_count[5m]))',
      '{{operation}} {{outcome}}',
    ]),
    panel('Time of a call at the acquirer, p99', 's', [
      quantile(0.99, 'acquirer_call_duration_seconds', 'operation'),
      '{{operation}}',
    ]),
    panel('Ledger commands', 'ops', [
      'sum by (kind, outcome) (rate(ledger_commands_total[5m]))',
      '{{kind}} {{outcome}}',
    ]),
  ],
};

const dispatcher: Dashboard = {
  id: 'dispatcher',
  title: 'Dispatcher',
  panels: [
    panel('Processes by role', 'short', ['max by (role) (webhook_processes)', '{{role}}']),
    panel('Attempts', 'ops', [
      'sum by (outcome, reason) (rate(webhook_attempts_total[5m]))',
      '{{outcome}} {{reason}}',
    ]),
    panel(
      'Event to first attempt',
      's',
      [quantile(0.5, 'webhook_event_to_first_attempt_seconds', 'service'), 'p50'],
      [quantile(0.99, 'webhook_event_to_first_attempt_seconds', 'service'), 'p99'],
    ),
    panel('Events that wait for an intake', 'short', ['max(webhook_waiting_events)', 'events']),
    panel('Events set aside', 'short', ['max(webhook_set_aside_events)', 'events']),
    panel('Oldest event set aside', 's', ['max(webhook_oldest_set_aside_age_seconds)', 'age']),
    panel('Lanes that wait for a sender', 'short', ['max(webhook_due_lanes)', 'lanes']),
    panel('Oldest due', 's', ['max by (lane) (webhook_oldest_due_age_seconds)', '{{lane}}']),
    panel('Lanes served, by state', 'short', ['sum by (state) (webhook_lanes)', '{{state}}']),
    panel(
      'Sends in flight and places',
      'short',
      ['sum(webhook_in_flight)', 'in flight'],
      ['sum(webhook_slots)', 'places'],
    ),
    panel(
      'Lanes taken over and lost',
      'ops',
      ['sum(rate(webhook_lanes_taken_over_total[5m]))', 'taken over'],
      ['sum(rate(webhook_lanes_lost_total[5m]))', 'lost'],
    ),
    panel('Accounts with receivers that are reached, and without', 'short', [
      'sum by (reached) (webhook_tried_accounts)',
      '{{reached}}',
    ]),
    panel('Outcomes lost', 'ops', [
      'sum by (cause) (rate(webhook_outcomes_lost_total[5m]))',
      '{{cause}}',
    ]),
    panel('Sends that may repeat a request', 'ops', [
      'sum(rate(webhook_repeated_sends_total[5m]))',
      'repeated',
    ]),
  ],
};

const kafka: Dashboard = {
  id: 'kafka',
  title: 'Kafka',
  panels: [
    panel('Broker answers', 'short', ['max(kafka_up)', 'up']),
    panel('Lag: messages', 'short', [
      'max by (group, topic) (kafka_group_lag_messages)',
      '{{group}} {{topic}}',
    ]),
    panel('Lag: age', 's', [
      'max by (group, topic) (kafka_group_lag_seconds)',
      '{{group}} {{topic}}',
    ]),
    panel('Oldest unpublished event', 's', [
      'max by (service) (outbox_oldest_age_seconds)',
      '{{service}}',
    ]),
    panel('Dead letters', 'short', ['max by (service) (dead_letters_open)', '{{service}}']),
    panel('Messages parked', 'ops', [
      'sum by (topic) (rate(kafka_messages_parked_total[5m]))',
      '{{topic}}',
    ]),
    panel('Pauses because a dependency was away', 'ops', [
      'sum by (service) (rate(kafka_partition_pauses_total[5m]))',
      '{{service}}',
    ]),
    panel('Commands sent again', 'ops', [
      'sum by (service) (rate(commands_resent_total[5m]))',
      '{{service}}',
    ]),
  ],
};

const postgres: Dashboard = {
  id: 'postgres',
  title: 'Postgres',
  panels: [
    panel('Server answers', 'short', ['min by (service) (postgres_up)', '{{service}}']),
    panel('Connections in use', 'short', [
      'sum by (service, pool) (postgres_pool_connections{state="used"})',
      '{{service}} {{pool}}',
    ]),
    panel('Connections that may be', 'short', [
      'sum by (service, pool) (postgres_pool_size)',
      '{{service}} {{pool}}',
    ]),
    panel('Work that waits for a connection', 'short', [
      'sum by (service, queue) (fair_share_waiting{queue=~"postgres.*"}) or vector(0)',
      '{{service}} {{queue}}',
    ]),
    panel('Wait for a connection, p99', 's', [
      quantile(0.99, 'fair_share_wait_seconds{queue=~"postgres.*"}', 'service'),
      '{{service}}',
    ]),
    panel('Errors', 'ops', [
      'sum by (service, kind) (rate(postgres_errors_total[5m]))',
      '{{service}} {{kind}}',
    ]),
    panel('Archive of the log fails', 'short', ['max(postgres_wal_archive_failing)', 'failing']),
    panel('Partitions ahead, days', 'short', [
      'min by (service) (partitions_ahead_seconds) / 86400',
      '{{service}}',
    ]),
  ],
};

function ofService(service: string): Dashboard {
  const only = `{service="${service}"}`;
  return {
    id: service,
    title: `Service ${service}`,
    panels: [
      panel('Requests by route', 'ops', [
        `sum by (method, route) (rate(http_server_duration_seconds_count${only}[5m]))`,
        '{{method}} {{route}}',
      ]),
      panel('Answers by status', 'ops', [
        `sum by (status) (rate(http_server_duration_seconds_count${only}[5m]))`,
        '{{status}}',
      ]),
      panel('Time to answer, p99', 's', [
        quantile(0.99, `http_server_duration_seconds${only}`, 'route'),
        '{{route}}',
      ]),
      panel('Postgres: connections in use', 'short', [
        `sum by (pool) (postgres_pool_connections{service="${service}",state="used"})`,
        '{{pool}}',
      ]),
      panel('CPU', 'percentunit', [`rate(process_cpu_seconds_total${only}[5m])`, '{{instance}}']),
      panel('Resident memory', 'bytes', [`process_resident_memory_bytes${only}`, '{{instance}}']),
      panel('Garbage collection', 'percentunit', [
        `sum by (kind) (rate(nodejs_gc_duration_seconds_sum${only}[5m]))`,
        '{{kind}}',
      ]),
      panel('Open files', 'short', [`process_open_fds${only}`, '{{instance}}']),
      ...(CALLS.has(service) ? [upstreams(only)] : []),
    ],
  };
}

/** Those that call other services. */
const CALLS: ReadonlySet<string> = new Set(['gateway', 'charges', 'payouts']);

function upstreams(only: string): Panel {
  return panel('Calls to other services', 'ops', [
    `sum by (upstream, outcome) (rate(http_client_duration_seconds_count${only}[5m]))`,
    '{{upstream}} {{outcome}}',
  ]);
}

export const DASHBOARDS: readonly Dashboard[] = [
  mesh,
  money,
  dispatcher,
  kafka,
  postgres,
  ...SERVICES.map(ofService),
];
