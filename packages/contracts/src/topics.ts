/** The only place that names a topic. Keys: the id whose order matters. */
export const TOPICS = {
  acquirerCallbacks: 'acquirer.callbacks.v1',
  accountsEvents: 'accounts.events.v1',
  chargesEvents: 'charges.events.v1',
  payoutsEvents: 'payouts.events.v1',
  ledgerCommands: 'ledger.commands.v1',
  ledgerEvents: 'ledger.events.v1',
} as const;

export type Topic = (typeof TOPICS)[keyof typeof TOPICS];

/** Splits evenly over 2, 3, 4, 6 or 12 consumers. */
export const PARTITIONS_PER_TOPIC = 12;
export const TOPIC_RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
