import type { EventName } from '@pixmesh/contracts/events/event-catalogue';
import { AppError } from '@pixmesh/kernel/app-error';
import { createMicroBatcher, writeOrHalve } from '@pixmesh/postgres/micro-batcher';
import { withSpan } from '@pixmesh/telemetry/tracing';

import { type IncomingEvent, readEvent, type ResourceEvent } from './read-event.ts';
import { storeEvents, type StoreEventsDeps } from './store-events.ts';
import { unstorable } from './unstorable.ts';

/** Events of one write. Beyond, a batch takes longer and the rate grows no more. */
const BATCH_MAX = 200;

export type IntakeDeps = StoreEventsDeps & {
  /** The catalogue's flag, and nothing else, decides whether an event is delivered (decision 122). */
  isDispatched(event: EventName): boolean;
};

export type Intake = {
  /**
   * Resolves once the event is stored with its deliveries, now or before.
   * @throws AppError `MESSAGE_INVALID` for what can never be stored, `DEPENDENCY_UNAVAILABLE` when it has to come again
   */
  take(event: ResourceEvent): Promise<void>;
};

/**
 * Stores events in batches that form by themselves. An event that cannot be stored is refused alone, and fails no other
 * of its batch; while the database is away nothing is stored and everything comes again.
 */
export function createIntake(deps: IntakeDeps): Intake {
  const batcher = createMicroBatcher<IncomingEvent, AppError | null>({
    batchMax: BATCH_MAX,
    write: (events) => storeBatch(deps, events),
  });
  return {
    take: async (message) => {
      if (!deps.isDispatched(message.type)) return;
      const refusal = await batcher.submit(readEvent(message));
      if (refusal !== null) throw refusal;
    },
  };
}

/** Returns for each event why it can never be stored; null where it is. */
async function storeBatch(
  deps: StoreEventsDeps,
  events: readonly IncomingEvent[],
): Promise<(AppError | null)[]> {
  // A batch of several has no trace of its own to be part of.
  const parent = events.length === 1 ? (events[0]?.traceparent ?? null) : null;
  const attributes = { 'pixmesh.batch.size': events.length };
  try {
    return await withSpan('store events', { parent, attributes }, () =>
      writeOrHalve<IncomingEvent, AppError | null>(events, {
        write: async (some) => {
          await storeEvents(deps, some);
          return some.map(() => null);
        },
        alone: async (event, refusal) => unstorable(event, refusal),
      }),
    );
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'no event is stored', cause: error });
  }
}
