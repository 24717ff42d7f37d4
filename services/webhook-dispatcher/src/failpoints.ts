import { declareFailpoints } from '@pixmesh/service/failpoints';

/** Where a test can make this service die, hang or fail. */
export const failpoint = declareFailpoints([
  'webhooks.intake.after-commit',
  'webhooks.intake.after-set-aside',
  'webhooks.send.after-claim',
  'webhooks.send.after-2xx',
]);
