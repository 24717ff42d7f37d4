import { assertNever } from '@pixmesh/kernel/app-error';

import type { LookPlan } from '#status-check/decide-check.ts';

/** What a look leads to, in one line for a table. */
export function sayLook({ steps, next }: LookPlan): string {
  const words = steps.map((step) => {
    switch (step.kind) {
      case 'record_pix':
        return step.disposition.kind === 'credit' ? 'credit' : `suspend ${step.disposition.reason}`;
      case 'book_return':
        return `book ${step.as} → ${step.status}, ${step.refundedAmount}`;
      case 'end_refund':
        return 'end refund';
      case 'end_suspense':
        return 'end item';
      case 'keep_unbooked':
        return `unbooked ${step.reason}`;
      case 'ignore':
        return `ignore ${step.happening}`;
      case 'fail':
      case 'cancel':
      case 'remove':
        return step.kind;
      default:
        return assertNever(step);
    }
  });
  return [...words, next].join('; ');
}
