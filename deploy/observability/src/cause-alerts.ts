import type { Alert } from './alerts.ts';

/** Services of the mesh, as the label `service` of their targets names them. */
export const SERVICES = ['gateway', 'charges', 'payouts', 'ledger', 'webhook-dispatcher'] as const;

const DAY_SECONDS = 86_400;
/** By whether a receiver of theirs was reached. */
const TRIED = 'webhook_tried_accounts';
const UNREACHED = `${TRIED}{reached="no"}`;
/** So few accounts may all have receivers that are away. */
const ACCOUNTS_MIN = 5;
const ACCEPTED_REQUESTS =
  'http_server_duration_seconds_count{service="gateway",listener="public",status!="401"}[5m]';
const ACCEPTED = `sum(increase(${ACCEPTED_REQUESTS}))`;
const ACCEPTED_BEFORE = `sum(increase(${ACCEPTED_REQUESTS} offset 1h))`;
/** Claims of Postgres as they are named in our own manifests and in the guide of CloudNativePG. */
const POSTGRES_CLAIMS = 'persistentvolumeclaim=~".*(postgres|pixmesh-db).*"';

/** `absent` has no labels of its own where it is given more than a selector. */
function missing(service: string): string {
  return `label_replace(absent(up{service="${service}"} == 1), "service", "${service}", "", "")`;
}

/** A job of the chart that has never succeeded is as old as the job itself. */
function sinceSuccess(job: 'base' | 'audit'): string {
  const series = `{cronjob=~".+-backup-${job}"}`;
  return `time() - max(kube_cronjob_status_last_successful_time${series} or kube_cronjob_created${series})`;
}

/** Of every process, whatever its business: what is down, behind, full or about to end. */
export const CAUSE_ALERTS: readonly Alert[] = [
  {
    name: 'ServiceDown',
    meaning: 'no process of a service answers',
    severity: 'page',
    for: '30s',
    expr: SERVICES.map(missing).join(' or '),
    dashboard: 'mesh',
  },
  {
    name: 'IntakeDown',
    meaning: 'no process takes events in for webhooks',
    severity: 'page',
    for: '30s',
    // Where no process of the service answers, there is none that takes in either.
    expr: '(max(webhook_processes{role="intake"}) or vector(0)) == 0',
    dashboard: 'dispatcher',
  },
  {
    name: 'SenderDown',
    meaning: 'no process sends webhooks',
    severity: 'page',
    for: '30s',
    expr: '(max(webhook_processes{role="sender"}) or vector(0)) == 0',
    dashboard: 'dispatcher',
  },
  {
    name: 'DispatcherApiDown',
    meaning: 'no process answers calls about endpoints and deliveries',
    severity: 'page',
    for: '30s',
    expr: '(max(webhook_processes{role="api"}) or vector(0)) == 0',
    dashboard: 'dispatcher',
  },
  {
    name: 'PostgresDown',
    meaning: 'a service gets no answer from Postgres',
    severity: 'page',
    for: '30s',
    expr: 'max by (service) (postgres_up) == 0',
    dashboard: 'postgres',
  },
  {
    name: 'KafkaDown',
    meaning: 'the broker does not answer',
    severity: 'page',
    for: '30s',
    expr: 'max(kafka_up) == 0',
    dashboard: 'kafka',
  },
  {
    name: 'RedisDown',
    meaning: 'Redis does not answer a service: limits hold by process, and hints are missing',
    severity: 'ticket',
    for: '1m',
    expr: 'max by (service) (redis_up) == 0',
    dashboard: 'mesh',
  },
  {
    name: 'ConsumerLagging',
    meaning: 'a consumer group has left a message unread for more than 20 s',
    severity: 'page',
    for: '1m',
    expr: 'max by (group, topic) (kafka_group_lag_seconds) > 20',
    dashboard: 'kafka',
  },
  {
    name: 'OutboxStuck',
    meaning: 'a committed event of a service has not reached the broker for more than 10 s',
    severity: 'page',
    for: '30s',
    expr: 'max by (service) (outbox_oldest_age_seconds) > 10',
    dashboard: 'kafka',
  },
  {
    name: 'DeadLettersWaiting',
    meaning: 'messages of a service are parked and wait for an operator',
    severity: 'ticket',
    for: '1m',
    expr: 'max by (service) (dead_letters_open) > 0',
    dashboard: 'kafka',
  },
  {
    name: 'DeliveriesOverdue',
    meaning: 'a delivery has been due for more than a minute, and no sender serves it',
    severity: 'page',
    for: '1m',
    expr: 'max(webhook_oldest_due_age_seconds{lane="waiting"}) > 60',
    dashboard: 'dispatcher',
  },
  {
    name: 'SetAsideOverdue',
    meaning:
      'an event that was set aside happened more than 15 minutes ago, and its webhooks are not stored',
    severity: 'ticket',
    for: '5m',
    expr: 'max(webhook_oldest_set_aside_age_seconds) > 15 * 60',
    dashboard: 'dispatcher',
  },
  {
    name: 'ReceiversUnreachable',
    meaning: 'a sender reaches the receivers of hardly any account',
    severity: 'page',
    for: '1m',
    // Accounts and not attempts: one merchant whose receivers are away is one account, however many attempts it costs.
    // Receivers that are dead for good are tried all the time: at night they may be all, but no more than by day.
    expr: `max by (instance) (${UNREACHED}) >= ${ACCOUNTS_MIN} and max by (instance) (${UNREACHED}) > 4 * max by (instance) (${TRIED}{reached="yes"}) and max by (instance) (${UNREACHED}) > 2 * scalar(avg_over_time(max(${UNREACHED})[1d:5m] offset 10m) or vector(0))`,
    dashboard: 'dispatcher',
  },
  {
    name: 'SecretsUnreadable',
    meaning: 'senders cannot open secrets of webhooks, and deliveries with them fail',
    severity: 'page',
    for: '1m',
    expr: 'sum(increase(webhook_attempts_total{reason="secret_unreadable"}[5m])) > 0',
    dashboard: 'dispatcher',
  },
  {
    name: 'OutcomesUnstorable',
    meaning: 'attempts at deliveries could not be stored, and will be made again',
    severity: 'ticket',
    for: '0s',
    expr: 'sum(increase(webhook_outcomes_lost_total{cause="unstorable"}[5m])) > 0',
    dashboard: 'dispatcher',
  },
  {
    name: 'LanesTakenOver',
    meaning: 'senders have taken over lanes from one another for a quarter of an hour',
    severity: 'ticket',
    // A sender that dies once has its lanes taken over within a minute.
    for: '15m',
    expr: 'sum(increase(webhook_lanes_taken_over_total[5m])) > 0',
    dashboard: 'dispatcher',
  },
  {
    name: 'PostgresDiskFull',
    meaning: 'Postgres refuses to write because its disk is full',
    severity: 'page',
    for: '0s',
    expr: 'sum by (service) (increase(postgres_errors_total{kind="disk_full"}[5m])) > 0',
    dashboard: 'postgres',
  },
  {
    name: 'PostgresDiskFilling',
    meaning: 'less than a fifth of the volume of Postgres is free',
    severity: 'ticket',
    for: '5m',
    expr: `min by (persistentvolumeclaim) (kubelet_volume_stats_available_bytes{${POSTGRES_CLAIMS}} / kubelet_volume_stats_capacity_bytes) < 0.2`,
    dashboard: 'postgres',
  },
  {
    name: 'PartitionsEnding',
    meaning: 'the partitions of a table end in less than 90 days, and none was added',
    severity: 'ticket',
    for: '10m',
    expr: `min by (service, table) (partitions_ahead_seconds) < ${90 * DAY_SECONDS}`,
    dashboard: 'postgres',
  },
  {
    name: 'PostgresPoolWaiting',
    meaning: 'statements of a service have waited for a connection for a minute',
    severity: 'ticket',
    for: '1m',
    expr: 'min_over_time(sum by (service) (fair_share_waiting{queue=~"postgres.*"})[1m:15s]) > 0',
    dashboard: 'postgres',
  },
  {
    name: 'WalArchiveFailing',
    meaning: 'Postgres cannot archive its log: no restore to a later moment, and its disk fills',
    severity: 'page',
    for: '5m',
    expr: 'max(postgres_wal_archive_failing) == 1',
    dashboard: 'postgres',
  },
  {
    name: 'BackupOverdue',
    meaning: 'the last base backup is older than 26 hours',
    severity: 'ticket',
    for: '5m',
    expr: `${sinceSuccess('base')} > 26 * 3600`,
    dashboard: 'postgres',
  },
  {
    name: 'AuditExportOverdue',
    meaning: 'what operators have closed was not exported for ten minutes',
    severity: 'ticket',
    for: '5m',
    expr: `${sinceSuccess('audit')} > 600`,
    dashboard: 'postgres',
  },
  {
    name: 'EventLoopBlocked',
    meaning:
      'a process answers late, because its event loop was held up for more than half a second',
    severity: 'ticket',
    for: '1m',
    expr: 'max by (service, instance) (nodejs_eventloop_lag_p99_seconds) > 0.5',
    dashboard: 'mesh',
  },
  {
    name: 'ClockOffset',
    meaning: 'the clock of a process and that of Postgres differ by more than a second',
    severity: 'ticket',
    for: '2m',
    expr: 'max by (service, instance) (abs(postgres_clock_offset_seconds)) > 1',
    dashboard: 'mesh',
  },
  {
    name: 'CertificateExpiring',
    meaning: 'a certificate has used up nine tenths of its life and was not renewed',
    severity: 'ticket',
    for: '10m',
    expr: '(min by (service, certificate) (certificate_expires_timestamp_seconds) - time()) < 0.1 * min by (service, certificate) (certificate_lifetime_seconds)',
    dashboard: 'mesh',
  },
  {
    name: 'MeshCertificateNotRenewed',
    meaning: 'a certificate of the mesh ends within two days and was not renewed',
    severity: 'page',
    for: '10m',
    // Of seven days, a daily renewal leaves 60 hours at least. A shorter life has its own bound: three tenths of it.
    expr: `((min by (service) (certificate_expires_timestamp_seconds{certificate="mesh"}) - time()) < 0.3 * min by (service) (certificate_lifetime_seconds{certificate="mesh"})) < ${2 * DAY_SECONDS}`,
    dashboard: 'mesh',
  },
  {
    name: 'SecurityTxtExpiring',
    meaning: 'security.txt expires in less than 21 days',
    severity: 'ticket',
    for: '10m',
    expr: 'min(gateway_security_txt_expires_timestamp_seconds) - time() < 21 * 86400',
    dashboard: 'mesh',
  },
  {
    name: 'CallbacksRefused',
    meaning: 'callers of the acquirer’s callback listener are refused',
    severity: 'ticket',
    for: '1m',
    expr: `${refusedIn('callbacks')} > 5`,
    dashboard: 'mesh',
  },
  {
    name: 'KeysRefused',
    meaning:
      'more than half of the requests of merchants are refused for their key, and far fewer are accepted than an hour ago',
    severity: 'page',
    for: '5m',
    // A caller without a key may send any number: what counts is that those with accepted keys fall within an hour.
    expr: `${refusedIn('public')} > 100 and ${refusedIn('public')} > ${ACCEPTED} and ${ACCEPTED} < 0.5 * ${ACCEPTED_BEFORE}`,
    dashboard: 'mesh',
  },
  {
    name: 'OperatorsRefused',
    meaning: 'callers of the admin listener are refused for their token',
    severity: 'ticket',
    for: '1m',
    expr: `${refusedIn('admin')} > 20`,
    dashboard: 'mesh',
  },
];

function refusedIn(listener: string): string {
  return `sum(increase(gateway_unauthorized_total{listener="${listener}"}[5m]))`;
}
