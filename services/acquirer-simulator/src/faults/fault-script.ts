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

/** Whom a rule is about: everything that is named has to fit. Without a filter it is about everybody. */
const Only = z
  .strictObject({
    txid: z.string().min(1).max(64),
    id_envio: z.string().min(1).max(64),
    /** The key that the money goes to: of an order its recipient's, of a charge the account's own. */
    pix_key: z.string().min(1).max(77),
    /** Name of a charge's debtor. */
    debtor: z.string().min(1).max(200),
  })
  .partial()
  .refine((only) => Object.values(only).some((value) => value !== undefined), 'names nobody');
export type Only = z.infer<typeof Only>;

const Firing = {
  /** How often the rule fires at most; without it, until the script is replaced. */
  count: z.int().min(0).optional(),
  probability: z.number().min(0).max(1).optional(),
  delay_ms: z.int().min(0).max(DELAY_MS_MAX).optional(),
  only: Only.optional(),
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

const OF_CHARGES = ['txid', 'pix_key', 'debtor'] as const;
const OF_ORDERS = ['id_envio', 'pix_key'] as const;

/** What can be known of the subject of each operation. A list or the balance is about nobody alone. */
const KNOWN_OF: Partial<Record<Rule['operation'], readonly (keyof Only)[]>> = {
  issueCharge: OF_CHARGES,
  getCharge: OF_CHARGES,
  cancelCharge: OF_CHARGES,
  getReceived: OF_CHARGES,
  refund: OF_CHARGES,
  getRefund: OF_CHARGES,
  submitDefense: OF_CHARGES,
  settleRefund: OF_CHARGES,
  sendPayout: OF_ORDERS,
  getPayout: OF_ORDERS,
  settlePayout: OF_ORDERS,
  callback: [...OF_CHARGES, 'id_envio'],
};

type Rule = CallRule | SettleRule | CallbackRule;

const Rule = z
  .discriminatedUnion('operation', [CallRule, SettleRule, CallbackRule])
  .refine(canBeAbout, { message: 'cannot be known of this operation', path: ['only'] });

function canBeAbout({ operation, only = {} }: Rule): boolean {
  const known: readonly string[] = KNOWN_OF[operation] ?? [];
  return Object.keys(only).every((name) => known.includes(name));
}

/** Body of `PUT` and `POST /control/faults`; `count` of a stored script is what remains of it. */
export const FaultScript = z.strictObject({
  seed: z.union([z.int(), z.string().max(100)]).default(0),
  rules: z.array(Rule).max(RULES_MAX),
});
export type FaultScript = z.infer<typeof FaultScript>;

/** A script that was added beside the others, and can be removed alone. */
export const AddedScript = FaultScript.extend({ id: z.string() });
export type AddedScript = z.infer<typeof AddedScript>;

/** Scripts that can be in force beside the first one. */
export const ADDED_MAX = 100;

/** Everything that is in force: the script, and what was added to it. */
export const FaultScripts = FaultScript.extend({ added: z.array(AddedScript).optional() });
export type FaultScripts = z.infer<typeof FaultScripts>;

export const NO_FAULTS: FaultScript = { seed: 0, rules: [] };
