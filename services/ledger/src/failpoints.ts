import { declareFailpoints } from '@pixmesh/service/failpoints';

/** Where a test can make this service die, hang or fail. */
export const failpoint = declareFailpoints([
  'ledger.command.after-commit',
  'ledger.hold.after-commit',
]);
