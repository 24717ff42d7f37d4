import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import { AcquirerCallback } from '@pixmesh/contracts/messages/acquirer-callback.v1';
import type { ConsumerGroup } from '@pixmesh/kafka/consumers';
import { on } from '@pixmesh/kafka/message-handler';
import type { NamedChecks } from '@pixmesh/postgres/named-checks';
import type { Logger } from '@pixmesh/telemetry/logger';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';
import type { z } from 'zod';

import type { LeasedCharge } from '#charge/charge-row.ts';

import type { NamedByCallback } from './callback-checks.sql.ts';
import { readCallbackItem } from './read-callback-item.ts';

/** Callbacks of one partition in hand at once: a fetch becomes one statement. */
const IN_HAND_MAX = 64;

type CallbacksDeps = {
  logger: Logger;
  callbackChecks: NamedChecks<NamedByCallback, LeasedCharge>;
  wakeNotices(): void;
};

/** Kinds of callback that charges owns; sends belong to payouts. */
const OWN_KINDS: ReadonlySet<string> = new Set(['received', 'received_return', 'unknown']);

/**
 * A callback is a reason to check the charge that it names, or else the Pix, now; it proves nothing
 * (decisions 213, 217).
 */
export function callbacksConsumer(deps: CallbacksDeps): ConsumerGroup {
  return {
    ...CONSUMER_GROUPS.chargesCallbacks,
    handlers: [on(AcquirerCallback, handle, isOwn)],
    concurrency: { max: IN_HAND_MAX },
  };

  async function handle({ data }: z.output<typeof AcquirerCallback.schema>): Promise<void> {
    if (!OWN_KINDS.has(data.kind)) return;
    const named = readCallbackItem(data.item);
    if (named.chargeId === null && named.endToEndId === null) {
      deps.logger.warn({ kind: data.kind }, 'callback without a charge or Pix ignored');
      return;
    }
    const charges = await deps.callbackChecks.check({
      ...named,
      traceparent: currentTraceParent(),
    });
    const isExplained = charges.some(({ status }) => status !== 'failed');
    if (named.endToEndId !== null && !isExplained) deps.wakeNotices();
  }
}

/** Messages without the header are looked into. */
function isOwn({ kind }: Readonly<Record<string, string | undefined>>): boolean {
  return kind === undefined || OWN_KINDS.has(kind);
}
