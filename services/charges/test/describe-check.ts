import { assertNever } from '@pixmesh/kernel/app-error';

import type { CheckPlan } from '#status-check/decide-check.ts';

/** What a status check leads to, in one line for a table. */
export function describeCheck({ steps, next }: CheckPlan): string {
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
      case 'record_unbooked':
        return `unbooked ${step.reason}`;
      case 'ignore':
        return `ignore ${step.event}`;
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
