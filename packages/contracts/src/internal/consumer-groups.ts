import { type Topic, TOPICS } from '../topics.ts';
import type { ServiceName } from './identities.ts';

/** One consumer group: its service, its name and what it reads. The only place that names a group. */
type NamedGroup = { service: ServiceName; groupId: string; topics: readonly Topic[] };

/** Every group of the mesh; a name begins with its service. */
export const CONSUMER_GROUPS = {
  chargesCallbacks: {
    service: 'charges',
    groupId: 'charges.acquirer-callbacks',
    topics: [TOPICS.acquirerCallbacks],
  },
  chargesLedgerEvents: {
    service: 'charges',
    groupId: 'charges.ledger-events',
    topics: [TOPICS.ledgerEvents],
  },
  payoutsCallbacks: {
    service: 'payouts',
    groupId: 'payouts.acquirer-callbacks',
    topics: [TOPICS.acquirerCallbacks],
  },
  payoutsLedgerEvents: {
    service: 'payouts',
    groupId: 'payouts.ledger-events',
    topics: [TOPICS.ledgerEvents],
  },
  ledgerCommands: {
    service: 'ledger',
    groupId: 'ledger.commands',
    topics: [TOPICS.ledgerCommands],
  },
  dispatcherIntake: {
    service: 'webhook-dispatcher',
    groupId: 'webhook-dispatcher.intake',
    topics: [TOPICS.chargesEvents, TOPICS.payoutsEvents],
  },
  dispatcherApplications: {
    service: 'webhook-dispatcher',
    groupId: 'webhook-dispatcher.applications',
    topics: [TOPICS.accountsEvents],
  },
} as const satisfies Record<string, NamedGroup>;
