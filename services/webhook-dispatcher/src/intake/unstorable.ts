import { AppError } from '@pixmesh/kernel/app-error';

import { isOfNow } from './is-of-now.ts';

const CHECK_VIOLATION = '23514';

/**
 * Why an event that is refused alone can never be stored. Ids and codes only: messages of the database may quote the row.
 * @throws AppError `DEPENDENCY_UNAVAILABLE` while there is no partition for events of now: the event is not wrong
 */
export function unstorable(event: { eventId: string }, refusal: unknown): AppError {
  const { code, constraint, name } = refusal as Error & { code?: string; constraint?: string };
  // No partition takes its id: those of its time are dropped, and with them what would show a repetition.
  const isOutOfTime = code === CHECK_VIOLATION && constraint === undefined;
  if (isOutOfTime && isOfNow(event)) {
    throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'no partition for events of now' });
  }
  const cause = isOutOfTime ? 'older than the retained history' : (constraint ?? code ?? name);
  return new AppError('MESSAGE_INVALID', {
    message: `event ${event.eventId} cannot be stored: ${cause}`,
  });
}
