import { AcquirerSettings, checkAcquirerSettings } from '@pixmesh/acquirer/acquirer-settings';
import { Receiver } from '@pixmesh/contracts/http/charge';
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

const RECEIVER_EXPECTED = 'expected JSON of the receiver, as the specification shows it';

/** Settings of the charges service. Periods default to production's; a laptop shortens them. */
export const ChargesConfig = z
  .object({
    ...CommonConfig,
    ...MeshTlsConfig,
    ...KafkaConfig,
    ...ReconciliationConfig,
    PORT: port(),
    /** Holds of refunds, and what reconciliation reads; no charge waits for it. */
    LEDGER_URL: meshUrl(),
    /** Where reconciliation asks whether every event has arrived. */
    DISPATCHER_URL: meshUrl(),
    ...AcquirerSettings,
    /** Limit of one exchange with the acquirer; two of them fit into a request. */
    ACQUIRER_TIMEOUT_MS: milliseconds(4_000),
    /** The receiver of every charge: the installation's account at the acquirer (decision 104). */
    ACQUIRER_RECEIVER: z.string({ error: RECEIVER_EXPECTED }).transform((text, context) => {
      const receiver = Receiver.safeParse(parseJson(text));
      if (receiver.success) return receiver.data;
      context.addIssue({ code: 'custom', message: RECEIVER_EXPECTED });
      return z.NEVER;
    }),
    WEBHOOK_SEALING_PUBLIC_KEY: z.string({ error: 'expected <version>:<key>' }).min(1),
    /** Upper bound of a request from the gateway. */
    REQUEST_TIMEOUT_MS: milliseconds(9_000),
    /** First and longest distance between checks of a charge whose issuing is unknown, and of an unpaid one. */
    READ_BACK_PROCESSING_MS: milliseconds(5_000),
    READ_BACK_PROCESSING_MS_MAX: milliseconds(30_000),
    READ_BACK_PENDING_MS: milliseconds(30_000),
    READ_BACK_PENDING_MS_MAX: milliseconds(300_000),
    /** After this long without a trace of the charge at the acquirer, issuing has failed (decision 63). */
    ISSUANCE_GIVE_UP_MS: milliseconds(600_000),
    /**
     * The list of received Pix: distance between runs that find what is new, and between those that find what is shown
     * late, which go back this far behind the one before.
     */
    RECEIVED_LIST_MS: milliseconds(10_000),
    RECEIVED_LIST_LATE_MS: milliseconds(300_000),
    RECEIVED_LIST_OVERLAP_MS: milliseconds(900_000),
    /** Between two readings of the acquirer's infractions, which no callback announces. */
    DISPUTE_LIST_MS: milliseconds(10_000),
    /**
     * How long the acquirer may take to return the money of a lost dispute, before the rest of the block is released.
     */
    DISPUTE_RETURN_WINDOW_MS: milliseconds(345_600_000),
    /** First and longest distance between checks: of the intent of a refund that its call left behind, */
    READ_BACK_REFUND_INTENT_MS: milliseconds(10_000),
    READ_BACK_REFUND_INTENT_MS_MAX: milliseconds(30_000),
    /** of a refund without a definite answer, */
    READ_BACK_REFUND_UNKNOWN_MS: milliseconds(5_000),
    READ_BACK_REFUND_UNKNOWN_MS_MAX: milliseconds(30_000),
    /** and of one that the acquirer has accepted. */
    READ_BACK_REFUND_ACCEPTED_MS: milliseconds(60_000),
    READ_BACK_REFUND_ACCEPTED_MS_MAX: milliseconds(300_000),
    /** How long a refused return waits after a call that ended unknown, before the refusal counts (decision 119). */
    REFUSAL_WAIT_MS: milliseconds(900_000),
    /** A command to the ledger without an outcome is sent again after so long. */
    COMMAND_RESEND_MS: milliseconds(120_000),
  })
  .superRefine(checkAcquirerSettings);
export type ChargesConfig = z.output<typeof ChargesConfig>;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
