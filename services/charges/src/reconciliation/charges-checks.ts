import { TOPICS } from '@pixmesh/contracts/topics';
import { sql } from '@pixmesh/postgres/sql';
import type { Check } from '@pixmesh/reconciliation/check';
import { deadLetterCheck } from '@pixmesh/reconciliation/dead-letter-check';
import { outboxCheck } from '@pixmesh/reconciliation/outbox-check';

import { creditCheck, type CreditCheckDeps } from './credit-check.ts';
import { receivedCheck, type ReceivedCheckDeps } from './received-check.ts';

/** What charges answers for: money in, its credits, its events. */
export function chargesChecks(deps: ReceivedCheckDeps & CreditCheckDeps): Check[] {
  const counters = sql`select id, event_sequence from charges`;
  return [
    receivedCheck(deps),
    creditCheck(deps),
    outboxCheck({ db: deps.db, topic: TOPICS.chargesEvents, counters }),
    deadLetterCheck(deps),
  ];
}
