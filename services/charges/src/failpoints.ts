import { declareFailpoints } from '@pixmesh/service/failpoints';

/** Where a test can make this service die, hang or fail. */
export const failpoint = declareFailpoints([
  'charges.create.before-insert',
  'charges.create.after-insert',
  'charges.create.after-answer',
  'charges.create.after-commit',
  'charges.paid.after-readback',
  'charges.paid.after-commit',
  'charges.paid.before-ledger-event',
  'charges.return.before-commit',
  'charges.return.after-commit',
  'charges.suspense.before-call',
  'charges.suspense.in-call',
  'charges.suspense.after-answer',
  'charges.cancel.in-call',
  'charges.cancel.after-answer',
  'charges.cancel.after-commit',
  'charges.refund.before-insert',
  'charges.refund.after-intent',
  'charges.refund.after-hold',
  'charges.refund.after-commit',
  'charges.refund.before-call',
  'charges.refund.in-call',
  'charges.refund.after-answer',
  'charges.refund.before-end',
  'charges.refund.after-end',
  'charges.dispute.after-commit',
  'charges.dispute.after-defense',
]);

export type Failpoint = Parameters<typeof failpoint>[0];
