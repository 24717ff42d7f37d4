import { setTimeout as delay } from 'node:timers/promises';

import { type AnswerWord, describeAnswer } from '@pixmesh/acquirer/describe-answer';
import { type Deadline, deadlineIn, untilDeadline } from '@pixmesh/http/deadline';

/** How often it is asked whether a check that is under way has ended. Each time is a statement on the shared pool. */
const LEASE_POLL_MS = 250;
/** What is left of the caller's time for reading the resource and answering. */
const ANSWER_MARGIN_MS = 500;

type CheckNow<Row> = {
  /** Takes the lease of the row; null while a check of it is under way. */
  lease(): Promise<Row | null>;
  /** The status check that the job makes. It releases the lease, and answers what the acquirer said. */
  check(row: Row): Promise<AnswerWord>;
  /** Has the job make the check. */
  request(): Promise<void>;
  /** Of the caller, since its request has arrived. */
  deadline: Deadline;
};

/**
 * The status check of one row while its caller waits: the same check under the same lease as the job's, so that two
 * never run at once. Null where it has not ended at the deadline: it goes on, or the job makes it.
 */
export async function checkNow<Row>(now: CheckNow<Row>): Promise<AnswerWord | null> {
  const waitMs = Math.max(0, now.deadline.remainingMs() - ANSWER_MARGIN_MS);
  const deadline = deadlineIn(waitMs);
  for (;;) {
    const row = await now.lease();
    if (row !== null) return await untilDeadline(now.check(row), deadline);
    if (deadline.remainingMs() === 0) break;
    await delay(Math.min(LEASE_POLL_MS, deadline.remainingMs()));
  }
  await now.request();
  return null;
}

/** What a row shows of its status checks. */
type Checked = { readAt: Date; lastCheckAt: Date | null; lastCheckAnswer: AnswerWord | null };

/** What the caller is told: the answer to its own check, or to another one that has ended while it waited. */
export function describeCheck(
  answer: AnswerWord | null,
  { before, after }: { before: Checked; after: Checked },
) {
  const { lastCheckAt, lastCheckAnswer } = after;
  if (answer !== null)
    return { checked_at: after.readAt.toISOString(), acquirer: describeAnswer(answer) };
  if (lastCheckAt === null || lastCheckAnswer === null || lastCheckAt < before.readAt) {
    return { checked_at: null, acquirer: null };
  }
  return { checked_at: lastCheckAt.toISOString(), acquirer: describeAnswer(lastCheckAnswer) };
}
