import { createPollPace } from '@pixmesh/service/poll-pace';
import { type PollingLoop, startPollingLoop } from '@pixmesh/service/polling-loop';
import { createWakeSignal, type WakeSignal } from '@pixmesh/service/wake-signal';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { Queryable } from './pool.ts';
import { named, sql, type Statement } from './sql.ts';

/** What was not notified in this process is found this soon: rows whose time has come, and those of other processes. */
const POLL_INTERVAL_MS = 250;
/** What is polled for here is polled for by its own job only this often, should a condition here miss something. */
const BACKSTOP_MS = 10_000;
/** While it fails, jobs find out by themselves that the database is away; it is there soon after. */
const RETRY = { firstMs: POLL_INTERVAL_MS, maxMs: 1_000 };

/** For a job that the poll wakes. */
export function createPolledSignal(): WakeSignal {
  return createWakeSignal({ pollMs: BACKSTOP_MS });
}

/**
 * Asks for all jobs of a process at once whether something of them is due, and wakes those. A poll that finds nothing
 * is paid all day: one statement costs less than one for each job, and it is made less often while nothing is due
 * (ADR 0038). A job that was woken and could not take what is due is woken again at the next poll.
 */
export function startDueWorkPoll<Job extends string>(deps: {
  db: Queryable;
  logger: Logger;
  /** Of each job a condition without a row of its own, best `hasDue`: one that reads a single entry of an index. */
  dueWork: Readonly<Record<Job, Statement>>;
  /** Those that `createPolledSignal` has made for the same jobs. */
  signals: Readonly<Record<Job, Pick<WakeSignal, 'notify'>>>;
}): PollingLoop {
  const { db, logger, dueWork, signals } = deps;
  const statement = named('due_work_poll', pollFor(dueWork));
  const pace = createPollPace(POLL_INTERVAL_MS);
  return startPollingLoop({
    name: 'poll for due work',
    logger,
    retry: RETRY,
    turn: async () => {
      const due = await db.query<{ job: Job }>(statement);
      for (const { job } of due) signals[job].notify();
      pace.note(due.length > 0);
      return { pauseMs: pace.intervalMs() };
    },
  });
}

/** No row where nothing is due. */
function pollFor(dueWork: Readonly<Record<string, Statement>>): Statement {
  const polls = Object.entries(dueWork).map(([job, isDue]) => sql`(${job}::text, ${isDue})`);
  const all = polls.reduce((before, poll) => sql`${before}, ${poll}`);
  return sql`select job from (values ${all}) as poll (job, is_due) where is_due`;
}
