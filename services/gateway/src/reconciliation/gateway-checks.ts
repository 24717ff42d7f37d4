import type { Check } from '@pixmesh/reconciliation/check';
import { deadLetterCheck } from '@pixmesh/reconciliation/dead-letter-check';
import { outboxCheck } from '@pixmesh/reconciliation/outbox-check';

import { applicationCheck, type ApplicationCheckDeps } from './application-check.ts';

/** What the gateway answers for: what it has announced, and that it is published. */
export function gatewayChecks(deps: ApplicationCheckDeps): Check[] {
  return [applicationCheck(deps), outboxCheck(deps), deadLetterCheck(deps)];
}
