import { z } from 'zod';

/** Words of the acquirer's client, plus `token` for the token endpoint. */
export const FaultyOperation = z.enum([
  'token',
  'issueCharge',
  'getCharge',
  'cancelCharge',
  'getReceived',
  'listReceived',
  'refund',
  'getRefund',
  'listDisputes',
  'submitDefense',
  'sendPayout',
  'getPayout',
  'listSent',
  'balance',
  'registerCallback',
]);
export type FaultyOperation = z.infer<typeof FaultyOperation>;

/** Rules and waits are bounded, so that a script can never exhaust the process. */
const RULES_MAX = 100;
const DELAY_MS_MAX = 600_000;

const Firing = {
  /** How often the rule fires at most; without it, until the script is replaced. */
  count: z.int().min(0).optional(),
  probability: z.number().min(0).max(1).optional(),
  delay_ms: z.int().min(0).max(DELAY_MS_MAX).optional(),
};

const CallFault = z.enum([
  'latency',
  'refusal',
  'error_before',
  'error_after',
  'hang',
  'reset',
  'garbage',
]);

/** What goes wrong with a call of the API. */
export const CallRule = z.strictObject({
  operation: FaultyOperation,
  fault: CallFault,
  ...Firing,
  status: z.int().min(200).max(599).optional(),
  code: z.string().min(1).max(100).optional(),
  message: z.string().max(500).optional(),
});
export type CallRule = z.infer<typeof CallRule>;

/** What was accepted and ends later: orders, and refunds of received Pix. */
export const SettlingOperation = z.enum(['settlePayout', 'settleRefund']);
export type SettlingOperation = z.infer<typeof SettlingOperation>;

/** What becomes of something that was accepted: it settles later, is rejected, or stays where it is. */
export const SettleRule = z.strictObject({
  operation: SettlingOperation,
  fault: z.enum(['latency', 'refusal', 'hang']),
  ...Firing,
  code: z.string().min(1).max(100).optional(),
  message: z.string().max(500).optional(),
});
export type SettleRule = z.infer<typeof SettleRule>;

/** What goes wrong with a notice on its way out. */
export const CallbackRule = z.strictObject({
  operation: z.literal('callback'),
  fault: z.enum(['drop', 'duplicate', 'delay', 'reorder']),
  ...Firing,
});
export type CallbackRule = z.infer<typeof CallbackRule>;

/** Body of `PUT /control/faults`; `count` of a stored script is what remains of it. */
export const FaultScript = z.strictObject({
  seed: z.union([z.int(), z.string().max(100)]).default(0),
  rules: z
    .array(z.discriminatedUnion('operation', [CallRule, SettleRule, CallbackRule]))
    .max(RULES_MAX),
});
export type FaultScript = z.infer<typeof FaultScript>;

export const NO_FAULTS: FaultScript = { seed: 0, rules: [] };
