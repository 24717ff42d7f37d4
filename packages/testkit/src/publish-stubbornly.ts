import type { EventPublisher } from '@pixmesh/kafka/event-publisher';

import { eventually } from './eventually.ts';

/** Longer than two publications that a busy broker does not answer in time. */
const PATIENCE_MS = 25_000;

/** Until the broker has the events, as the relay of an outbox does: where an answer is lost, it has them twice. */
export async function publishStubbornly(
  publisher: EventPublisher,
  events: Parameters<EventPublisher['publishAll']>[0],
): Promise<void> {
  await eventually(() => publisher.publishAll(events), PATIENCE_MS);
}
