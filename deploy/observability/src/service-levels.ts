/** One promise of `docs/service-levels.md` that is measured by events: so many of all of 30 days are good. */
export type ServiceLevel = {
  /** In names of recording rules. */
  id: string;
  /** First word of its alerts. */
  alert: string;
  title: string;
  objective: number;
  /** PromQL of the number of events within a window: those that failed, and all of them. */
  failed(window: string): string;
  all(window: string): string;
};

const HTTP = 'http_server_duration_seconds_count';
const PUBLIC = 'service="gateway",listener="public"';
const WRITE = `${PUBLIC},method="POST",route=~"/v1/(charges|payouts)"`;
const READ = `${PUBLIC},method="GET",route=~"/v1/.*"`;
const FIRST_ATTEMPT = 'webhook_event_to_first_attempt_seconds';

function increase(series: string): (window: string) => string {
  return (window) => `(sum(increase(${series}[${window}])) or vector(0))`;
}

function requests(labels: string): Pick<ServiceLevel, 'failed' | 'all'> {
  return {
    failed: increase(`${HTTP}{${labels},status=~"5.."}`),
    all: increase(`${HTTP}{${labels}}`),
  };
}

const firstAttempts = increase(`${FIRST_ATTEMPT}_count`);
/** Prometheus 3 stores the bound `5` of a bucket as `5.0`. */
const inTime = increase(`${FIRST_ATTEMPT}_bucket{le=~"5|5.0"}`);

/** The promises of `docs/service-levels.md` that are measured by events. */
export const SERVICE_LEVELS: readonly ServiceLevel[] = [
  {
    id: 'creations',
    alert: 'Creation',
    title: 'Charges and payouts are created without a failure of ours',
    objective: 0.9995,
    ...requests(WRITE),
  },
  {
    id: 'reads',
    alert: 'Api',
    title: 'Reads of the API are answered without a failure of ours',
    objective: 0.999,
    ...requests(READ),
  },
  {
    id: 'deliveries',
    alert: 'Delivery',
    title: 'Deliveries are first tried within 5 s of their event',
    objective: 0.999,
    failed: (window) => `clamp_min(${firstAttempts(window)} - ${inTime(window)}, 0)`,
    all: firstAttempts,
  },
];
