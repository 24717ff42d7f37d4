import { declareFailpoints } from '@pixmesh/service/failpoints';

/** Where a test can make this service die, hang or fail. */
export const failpoint = declareFailpoints([
  'payouts.create.before-insert',
  'payouts.create.after-intent',
  'payouts.create.after-hold',
  'payouts.create.after-commit',
  'payouts.submit.before-call',
  'payouts.submit.in-call',
  'payouts.submit.after-answer',
  'payouts.settle.after-commit',
]);
