import { AcquirerCallback } from '@pixmesh/contracts/messages/acquirer-callback.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import { on } from '@pixmesh/kafka/message-handler';
import type { ConsumerGroup } from '@pixmesh/kafka/messaging';
import { type ChargeId, fromAcquirerId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';

import { requestCheck } from './read-back.sql.ts';

type RequestCheckDeps = { db: Database; logger: Logger; kickReadBack(): void };

/** Kinds of callback that charges owns; sends belong to payouts. */
const OWN_KINDS: ReadonlySet<string> = new Set(['received', 'received_return', 'unknown']);

/** A callback is a reason to look now at the charge it names, and proves nothing (decision 213). */
export function callbacksConsumer(deps: RequestCheckDeps): ConsumerGroup {
  return {
    groupId: 'charges.acquirer-callbacks',
    topics: [TOPICS.acquirerCallbacks],
    handlers: [
      on(AcquirerCallback, async ({ data }) => {
        if (!OWN_KINDS.has(data.kind)) return;
        const { txid } = data.item;
        const id = typeof txid === 'string' ? fromAcquirerId<ChargeId>(txid) : null;
        const isOurs = id !== null && (await requestCheck(deps.db, id, currentTraceParent()));
        if (isOurs) deps.kickReadBack();
        else deps.logger.warn({ kind: data.kind }, 'a callback names no charge of ours');
      }),
    ],
  };
}
