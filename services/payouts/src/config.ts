import { AcquirerSettings, checkAcquirerSettings } from '@pixmesh/acquirer/acquirer-settings';
import {
  CommonConfig,
  KafkaConfig,
  MeshTlsConfig,
  meshUrl,
  milliseconds,
  port,
} from '@pixmesh/service/config';
import { ReconciliationConfig } from '@pixmesh/reconciliation/reconciliation-config';
import { z } from 'zod';

/** More calls to the acquirer at once than this help nobody: they only wait for each other there. */
const SEND_SLOTS_MAX = 64;
/** One payout that rests at the acquirer, for an hour at most, must not hold up all others for longer than this. */
const SEND_WAIT_MS_MAX = 300_000;

/** Settings of the payouts service. Periods default to production's; a laptop shortens them. */
export const PayoutsConfig = z
  .object({
    ...CommonConfig,
    ...MeshTlsConfig,
    ...KafkaConfig,
    ...ReconciliationConfig,
    PORT: port(),
    LEDGER_URL: meshUrl(),
    /** Whose reconciliation may stop payouts, like the ledger's. */
    CHARGES_URL: meshUrl(),
    /** Where reconciliation asks whether every event has arrived. */
    DISPATCHER_URL: meshUrl(),
    ...AcquirerSettings,
    /** Limit of one exchange with the acquirer. */
    ACQUIRER_TIMEOUT_MS: milliseconds(4_000),
    WEBHOOK_SEALING_PUBLIC_KEY: z.string({ error: 'expected <version>:<key>' }).min(1),
    /** Upper bound of a request from the gateway. */
    REQUEST_TIMEOUT_MS: milliseconds(9_000),
    /** Calls to the acquirer without an answer yet, over all replicas (decision 132). */
    SEND_SLOTS: numberFrom(1, SEND_SLOTS_MAX).default(8),
    /**
     * How long a slot waits after its call for the end of the payout that it has sent; then it serves the next one all
     * the same. 0: it does not wait (decision 132).
     */
    SEND_WAIT_MS: numberFrom(0, SEND_WAIT_MS_MAX).default(0),
    /** First and longest distance between status checks: of an intent that its call left behind, */
    READ_BACK_INTENT_MS: milliseconds(10_000),
    READ_BACK_INTENT_MS_MAX: milliseconds(30_000),
    /** of a send without a definite answer, */
    READ_BACK_UNKNOWN_MS: milliseconds(5_000),
    READ_BACK_UNKNOWN_MS_MAX: milliseconds(30_000),
    /** and of one that the acquirer has accepted. */
    READ_BACK_ACCEPTED_MS: milliseconds(60_000),
    READ_BACK_ACCEPTED_MS_MAX: milliseconds(300_000),
    /**
     * The list of sent Pix: distance between runs that find what is new, and between those that find what is shown
     * late, which go back this far behind the one before.
     */
    SENT_LIST_MS: milliseconds(10_000),
    SENT_LIST_LATE_MS: milliseconds(300_000),
    SENT_LIST_OVERLAP_MS: milliseconds(900_000),
    /** How long a refusal waits after a call that ended unknown, before it counts (decision 119). */
    REFUSAL_WAIT_MS: milliseconds(900_000),
    /** A command to the ledger without an outcome is sent again after so long. */
    COMMAND_RESEND_MS: milliseconds(120_000),
  })
  .superRefine(checkAcquirerSettings);
export type PayoutsConfig = z.output<typeof PayoutsConfig>;

function numberFrom(min: number, max: number) {
  const error = `expected a number from ${min} to ${max}`;
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error });
}

/** The periods of routine status checks of payouts in one state. */
export function checkPeriods(config: PayoutsConfig, of: 'INTENT' | 'UNKNOWN' | 'ACCEPTED') {
  return { firstMs: config[`READ_BACK_${of}_MS`], maxMs: config[`READ_BACK_${of}_MS_MAX`] };
}
