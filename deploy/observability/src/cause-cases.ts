import { SERVICES } from './cause-alerts.ts';
import { fires, type RuleCase, turns } from './rule-case.ts';

const ALL_UP = Object.fromEntries(SERVICES.map((name) => [`up{service="${name}"}`, '1x300']));
const DAY = 86_400;

/**
 * Of causes and of money: the moment before `for` is over, and one after it. The alert is due at 1:15 at the earliest.
 */
export const CAUSE_CASES: readonly RuleCase[] = [
  fires(
    'ServiceDown',
    { ...ALL_UP, 'up{service="payouts"}': turns(1, 0) },
    { silentAt: '1m30s', firesAt: '2m', labels: { service: 'payouts' } },
  ),
  {
    name: 'ServiceDown: one whose targets are gone',
    alert: 'ServiceDown',
    series: Object.fromEntries(
      Object.entries(ALL_UP).filter(([series]) => !series.includes('ledger')),
    ),
    silentAt: '15s',
    firesAt: '1m',
    labels: { service: 'ledger' },
  },
  fires(
    'IntakeDown',
    { 'webhook_processes{role="intake"}': turns(1, 0) },
    { silentAt: '1m30s', firesAt: '2m' },
  ),
  fires(
    'SenderDown',
    { 'webhook_processes{role="sender"}': turns(1, 0) },
    { silentAt: '1m30s', firesAt: '2m' },
  ),
  fires(
    'DispatcherApiDown',
    { 'webhook_processes{role="api"}': turns(1, 0) },
    { silentAt: '1m30s', firesAt: '2m' },
  ),
  fires(
    'PostgresDown',
    { 'postgres_up{service="ledger"}': turns(1, 0) },
    { silentAt: '1m30s', firesAt: '2m', labels: { service: 'ledger' } },
  ),
  fires('KafkaDown', { kafka_up: turns(1, 0) }, { silentAt: '1m30s', firesAt: '2m' }),
  fires(
    'RedisDown',
    { 'redis_up{service="gateway"}': turns(1, 0) },
    { silentAt: '2m', firesAt: '3m', labels: { service: 'gateway' } },
  ),
  fires(
    'ConsumerLagging',
    { 'kafka_group_lag_seconds{group="g",topic="t"}': turns(20, 45) },
    { silentAt: '2m', firesAt: '3m', labels: { group: 'g', topic: 't' } },
  ),
  fires(
    'OutboxStuck',
    { 'outbox_oldest_age_seconds{service="charges"}': turns(9, 11) },
    { silentAt: '1m30s', firesAt: '2m', labels: { service: 'charges' } },
  ),
  fires(
    'DeadLettersWaiting',
    { 'dead_letters_open{service="charges"}': turns(0, 1) },
    { silentAt: '2m', firesAt: '3m', labels: { service: 'charges' } },
  ),
  fires(
    'DeliveriesOverdue',
    { 'webhook_oldest_due_age_seconds{lane="waiting"}': turns(60, 61) },
    { silentAt: '2m', firesAt: '3m' },
  ),
  fires(
    'SetAsideOverdue',
    { webhook_oldest_set_aside_age_seconds: turns(900, 901) },
    { silentAt: '6m', firesAt: '7m' },
  ),
  fires(
    'ReceiversUnreachable',
    {
      'webhook_tried_accounts{reached="no",instance="a"}': turns(8, 9),
      'webhook_tried_accounts{reached="yes",instance="a"}': '2x300',
      // One that is dead among few that are not.
      'webhook_tried_accounts{reached="no",instance="b"}': '4x300',
      'webhook_tried_accounts{reached="yes",instance="b"}': '0x300',
    },
    { silentAt: '2m', firesAt: '3m', labels: { instance: 'a' } },
  ),
  {
    ...fires(
      'ReceiversUnreachable',
      // Five that are dead for good, at night; then twelve that are not reached.
      {
        'webhook_tried_accounts{reached="no",instance="a"}': '5x480 12x120',
        'webhook_tried_accounts{reached="yes",instance="a"}': '3x240 0x360',
      },
      { silentAt: '110m', firesAt: '122m', labels: { instance: 'a' } },
    ),
    name: 'ReceiversUnreachable: not where few are dead for good',
  },
  fires(
    'SecretsUnreadable',
    {
      'webhook_attempts_total{outcome="failed",reason="secret_unreadable"}': turns(0, 1),
      'webhook_attempts_total{outcome="failed",reason="connect_failed"}': '0+9x300',
    },
    { silentAt: '1m30s', firesAt: '3m' },
  ),
  fires(
    'OutcomesUnstorable',
    {
      'webhook_outcomes_lost_total{cause="unstorable"}': turns(0, 1),
      'webhook_outcomes_lost_total{cause="fenced"}': '0+9x300',
    },
    { silentAt: '1m', firesAt: '2m' },
  ),
  fires(
    'LanesTakenOver',
    { webhook_lanes_taken_over_total: '0x4 0+1x240' },
    { silentAt: '15m', firesAt: '18m' },
  ),
  {
    ...fires(
      'LanesTakenOver',
      // A sender that dies, and half an hour later one that dies again and again.
      { webhook_lanes_taken_over_total: '0x4 64x120 64+1x160' },
      { silentAt: '20m', firesAt: '50m' },
    ),
    name: 'LanesTakenOver: not where a sender dies once',
  },
  fires(
    'PostgresDiskFull',
    { 'postgres_errors_total{service="ledger",kind="disk_full"}': turns(0, 3) },
    { silentAt: '45s', firesAt: '2m', labels: { service: 'ledger' } },
  ),
  ...['postgres-1', 'pixmesh-db-1', 'pixmesh-db-1-wal'].map((persistentvolumeclaim) => ({
    ...fires(
      'PostgresDiskFilling',
      {
        [`kubelet_volume_stats_available_bytes{persistentvolumeclaim="${persistentvolumeclaim}"}`]:
          turns(50, 19),
        [`kubelet_volume_stats_capacity_bytes{persistentvolumeclaim="${persistentvolumeclaim}"}`]:
          '100x300',
      },
      { silentAt: '6m', firesAt: '7m', labels: { persistentvolumeclaim } },
    ),
    name: `PostgresDiskFilling: ${persistentvolumeclaim}`,
  })),
  fires(
    'PartitionsEnding',
    { 'partitions_ahead_seconds{service="charges",table="events"}': turns(90 * DAY, 90 * DAY - 1) },
    { silentAt: '11m', firesAt: '12m', labels: { service: 'charges', table: 'events' } },
  ),
  fires(
    'PostgresPoolWaiting',
    { 'fair_share_waiting{service="charges",queue="postgres main"}': turns(0, 4) },
    { silentAt: '2m', firesAt: '4m', labels: { service: 'charges' } },
  ),
  fires(
    'WalArchiveFailing',
    { postgres_wal_archive_failing: turns(0, 1) },
    { silentAt: '6m', firesAt: '7m' },
  ),
  fires(
    'BackupOverdue',
    {
      'kube_cronjob_status_last_successful_time{cronjob="pixmesh-backup-base"}': `${-27 * 3600}x300`,
      'kube_cronjob_created{cronjob="pixmesh-backup-base"}': `${-30 * DAY}x300`,
    },
    { silentAt: '4m', firesAt: '6m' },
  ),
  {
    ...fires(
      'BackupOverdue',
      { 'kube_cronjob_created{cronjob="pixmesh-backup-base"}': `${-27 * 3600}x300` },
      { silentAt: '4m', firesAt: '6m' },
    ),
    name: 'BackupOverdue: none has ever succeeded',
  },
  fires(
    'AuditExportOverdue',
    {
      'kube_cronjob_status_last_successful_time{cronjob="pixmesh-backup-audit"}': '0x300',
      'kube_cronjob_created{cronjob="pixmesh-backup-audit"}': `${-30 * DAY}x300`,
    },
    { silentAt: '15m', firesAt: '16m' },
  ),
  fires(
    'EventLoopBlocked',
    { 'nodejs_eventloop_lag_p99_seconds{service="ledger",instance="a"}': turns(0.15, 0.7) },
    { silentAt: '2m', firesAt: '3m', labels: { service: 'ledger', instance: 'a' } },
  ),
  fires(
    'ClockOffset',
    { 'postgres_clock_offset_seconds{service="ledger",instance="a"}': turns(0.1, -1.2) },
    { silentAt: '3m', firesAt: '4m', labels: { service: 'ledger', instance: 'a' } },
  ),
  fires(
    'CertificateExpiring',
    {
      'certificate_expires_timestamp_seconds{service="charges",certificate="mesh"}': `${2 * DAY}x300`,
      'certificate_lifetime_seconds{service="charges",certificate="mesh"}': `${21 * DAY}x300`,
    },
    { silentAt: '9m', firesAt: '11m', labels: { service: 'charges', certificate: 'mesh' } },
  ),
  fires(
    'MeshCertificateNotRenewed',
    {
      // Two days are left after five minutes.
      'certificate_expires_timestamp_seconds{service="charges",certificate="mesh"}': `${2 * DAY + 300}x300`,
      'certificate_lifetime_seconds{service="charges",certificate="mesh"}': `${7 * DAY}x300`,
    },
    { silentAt: '15m', firesAt: '16m', labels: { service: 'charges' } },
  ),
  {
    ...fires(
      'MeshCertificateNotRenewed',
      {
        // Of a life of a day, three tenths are left after five minutes.
        'certificate_expires_timestamp_seconds{service="charges",certificate="mesh"}': `${0.3 * DAY + 300}x300`,
        'certificate_lifetime_seconds{service="charges",certificate="mesh"}': `${DAY}x300`,
      },
      { silentAt: '15m', firesAt: '16m', labels: { service: 'charges' } },
    ),
    name: 'MeshCertificateNotRenewed: one of a day',
  },
  fires(
    'SecurityTxtExpiring',
    { gateway_security_txt_expires_timestamp_seconds: `${20 * DAY}x300` },
    { silentAt: '9m', firesAt: '11m' },
  ),
  fires(
    'CallbacksRefused',
    { 'gateway_unauthorized_total{listener="callbacks"}': '0x4 0+1x240' },
    { silentAt: '1m', firesAt: '5m' },
  ),
  fires(
    'KeysRefused',
    {
      // A caller without a key for eighty minutes, beside merchants as before; then nobody is accepted.
      'gateway_unauthorized_total{listener="public"}': '0+30x520',
      'http_server_duration_seconds_count{service="gateway",listener="public",status="401"}':
        '0+30x520',
      'http_server_duration_seconds_count{service="gateway",listener="public",status="200"}':
        '0+20x320 6400x200',
    },
    { silentAt: '80m', firesAt: '90m' },
  ),
  fires(
    'OperatorsRefused',
    { 'gateway_unauthorized_total{listener="admin"}': '0x4 0+3x240' },
    { silentAt: '1m', firesAt: '5m' },
  ),
  fires(
    'AcquirerUnavailable',
    { 'acquirer_breaker_open{service="charges",operation="issueCharge"}': turns(0, 1) },
    { silentAt: '2m', firesAt: '3m', labels: { service: 'charges', operation: 'issueCharge' } },
  ),
  fires(
    'AccountsHeldBack',
    { 'acquirer_account_breakers_open{service="charges",operation="issueCharge"}': turns(0, 2) },
    { silentAt: '11m', firesAt: '12m', labels: { service: 'charges', operation: 'issueCharge' } },
  ),
  fires(
    'ChargesOverdue',
    { charges_processing_oldest_age_seconds: turns(60, 61) },
    { silentAt: '11m', firesAt: '12m' },
  ),
  fires(
    'ChargeChecksOverdue',
    { charges_due_check_oldest_age_seconds: turns(3_600, 3_601) },
    { silentAt: '16m', firesAt: '17m' },
  ),
  fires(
    'PayoutsOverdue',
    { payouts_unsent: turns(0, 2), payouts_unanswered: '0x300' },
    { silentAt: '2m', firesAt: '3m' },
  ),
  {
    ...fires(
      'PayoutsOverdue',
      { payouts_unsent: '0x300', payouts_unanswered: turns(0, 1) },
      { silentAt: '2m', firesAt: '3m' },
    ),
    name: 'PayoutsOverdue: unanswered',
  },
  fires('PayoutsResting', { payouts_resting: turns(0, 1) }, { silentAt: '6m', firesAt: '7m' }),
  fires(
    'PayoutsStopped',
    {
      'payouts_stopped{cause="operator"}': '1x300',
      'payouts_stopped{cause="reconciliation"}': turns(0, 1),
    },
    { silentAt: '1m', firesAt: '1m30s', labels: { cause: 'reconciliation' } },
  ),
  fires(
    'AcquirerBalanceLow',
    {
      acquirer_balance_cents: turns(500, 99),
      acquirer_balance_read_at_seconds: turns(0, 60),
      payouts_due_cents: '100x300',
    },
    { silentAt: '6m', firesAt: '7m' },
  ),
  {
    name: 'AcquirerBalanceLow: the newest reading of several processes, not the highest',
    alert: 'AcquirerBalanceLow',
    series: {
      'acquirer_balance_cents{instance="a"}': '500x300',
      'acquirer_balance_read_at_seconds{instance="a"}': '30x300',
      'acquirer_balance_cents{instance="b"}': turns(500, 99),
      'acquirer_balance_read_at_seconds{instance="b"}': turns(0, 60),
      payouts_due_cents: '100x300',
    },
    silentAt: '6m',
    firesAt: '7m',
  },
  fires(
    'LedgerUnbalanced',
    {
      'reconciliation_breaks{check="ledger_sum",kind="sum"}': turns(0, 1),
      'reconciliation_breaks{check="balance",kind="unavailable"}': '1x300',
    },
    { silentAt: '1m', firesAt: '1m30s', labels: { check: 'ledger_sum' } },
  ),
  fires(
    'ReconciliationBreaks',
    { 'reconciliation_breaks{check="payout",kind="missing_left"}': turns(0, 1) },
    { silentAt: '16m', firesAt: '17m', labels: { check: 'payout', kind: 'missing_left' } },
  ),
  fires(
    'ReconciliationOverdue',
    { 'reconciliation_age_seconds{service="charges"}': turns(300, 901) },
    { silentAt: '2m', firesAt: '3m', labels: { service: 'charges' } },
  ),
  fires(
    'ReconciliationFullOverdue',
    { 'reconciliation_full_age_seconds{service="ledger"}': turns(2 * DAY, 2 * DAY + 1) },
    { silentAt: '15m', firesAt: '17m', labels: { service: 'ledger' } },
  ),
  fires(
    'SuspenseWaiting',
    { ledger_oldest_suspense_age_seconds: turns(3600, 3601) },
    { silentAt: '6m', firesAt: '7m' },
  ),
  fires(
    'ReceivedListBehind',
    { 'acquirer_list_lag_seconds{list="received"}': turns(200, 301) },
    { silentAt: '2m', firesAt: '3m' },
  ),
  fires(
    'AcquirerListBehind',
    {
      'acquirer_list_lag_seconds{list="received"}': '7200x300',
      'acquirer_list_lag_seconds{list="received.older"}': '7200x300',
      'acquirer_list_lag_seconds{list="sent.older"}': '7200x300',
      'acquirer_list_lag_seconds{list="received.late"}': '1800x300',
      'acquirer_list_lag_seconds{list="sent.recent",instance="a"}': '0x300',
      'acquirer_list_lag_seconds{list="sent.recent",instance="b"}': turns(1800, 1801),
    },
    { silentAt: '6m', firesAt: '7m', labels: { list: 'sent.recent' } },
  ),
  {
    ...fires(
      'AcquirerListBehind',
      { 'acquirer_list_lag_seconds{list="received.returned"}': turns(1800, 1801) },
      { silentAt: '6m', firesAt: '7m', labels: { list: 'received.returned' } },
    ),
    name: 'AcquirerListBehind: Pix with returns',
  },
  fires(
    'PixNoticesOverdue',
    { pix_notice_oldest_age_seconds: turns(900, 901) },
    { silentAt: '6m', firesAt: '7m' },
  ),
  fires(
    'ReleasesOverdue',
    { ledger_oldest_due_release_age_seconds: turns(300, 301) },
    { silentAt: '2m', firesAt: '3m' },
  ),
  fires('RefundsOverdue', { refunds_unanswered: turns(0, 1) }, { silentAt: '6m', firesAt: '7m' }),
  fires('DeadMansSwitch', {}, { firesAt: '0s' }),
];
