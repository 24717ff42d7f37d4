import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import { AcquirerCallback } from '@pixmesh/contracts/messages/acquirer-callback.v1';
import type { ConsumerGroup } from '@pixmesh/kafka/consumers';
import { on } from '@pixmesh/kafka/message-handler';
import { fromAcquirerId, type PayoutId, readEndToEndId } from '@pixmesh/kernel/ids';
import type { NamedChecks } from '@pixmesh/postgres/named-checks';
import type { Logger } from '@pixmesh/telemetry/logger';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';
import { z } from 'zod';

import type { PayoutRow } from '#payouts/payout-row.ts';

import type { NamedPayout } from './callback-checks.sql.ts';

/** Callbacks of one partition in hand at once: a fetch becomes one statement. */
const IN_HAND_MAX = 64;

type CallbacksDeps = { logger: Logger; callbackChecks: NamedChecks<NamedPayout, PayoutRow> };

/** Kinds of callback that payouts owns; what is received belongs to charges. */
const OWN_KINDS: ReadonlySet<string> = new Set(['sent', 'sent_return']);

/** What an item says about which payout it speaks of; anything else in it proves nothing. */
const Item = z.object({
  endToEndId: z.unknown().optional(),
  gnExtras: z
    .object({ idEnvio: z.string().nullish().catch(null) })
    .nullish()
    .catch(null),
});

/** A callback is a reason to check the payout that it names now (decision 213). */
export function callbacksConsumer(deps: CallbacksDeps): ConsumerGroup {
  return {
    ...CONSUMER_GROUPS.payoutsCallbacks,
    handlers: [on(AcquirerCallback, handle, isOwn)],
    concurrency: { max: IN_HAND_MAX },
  };

  async function handle({ data }: z.output<typeof AcquirerCallback.schema>): Promise<void> {
    if (!OWN_KINDS.has(data.kind)) return;
    const named = await deps.callbackChecks.check(nameOf(data.item));
    if (named.length === 0) deps.logger.warn({ kind: data.kind }, 'callback names no payout');
  }
}

/** Messages without the header are looked into. */
function isOwn({ kind }: Readonly<Record<string, string | undefined>>): boolean {
  return kind === undefined || OWN_KINDS.has(kind);
}

function nameOf(item: unknown): NamedPayout {
  const { endToEndId, gnExtras } = Item.parse(item);
  const id = gnExtras?.idEnvio ? fromAcquirerId<PayoutId>(gnExtras.idEnvio) : null;
  return { id, endToEndId: readEndToEndId(endToEndId), traceparent: currentTraceParent() };
}
