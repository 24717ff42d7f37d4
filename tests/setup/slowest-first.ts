import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that wait more than they work, slowest first: one that began last would keep its ring from ending. */
const SLOWEST = [
  'tests/e2e/contract-fuzz.',
  'tests/e2e/conformance.',
  'tests/e2e/payouts-unknown.',
  'tests/e2e/payouts.',
  'tests/e2e/secrets-and-traces.',
  'tests/e2e/forged-credit.',
  'tests/e2e/charge-lives.',
  'tests/e2e/request-id.',
  'tests/e2e/generated-clients.',
  'e2e/alone/payouts-kills.',
  'e2e/alone/acquirer-outage.',
  'e2e/alone/lost-messages.',
  'e2e/alone/outages.',
  'e2e/alone/acquirer-clock.',
  'e2e/alone/payouts-crashes.',
  'deploy/backup/timelines.',
  'charges/src/status-check/slow-updates.',
  'payouts/src/service.',
  'webhook-dispatcher/src/sending/fair-turns.',
  'packages/kafka/src/watch-groups.',
  'acquirer-simulator/src/page/page.',
  'reconciliation/src/reconciliation.',
  'gateway/src/rotations.',
  'charges/src/refunds/refund-faults.',
  'webhook-dispatcher/src/deaths.',
  'acquirer-simulator/src/durability.',
  'payouts/src/sending/sender-death.',
  'gateway/src/admin/reconciliation/reconciliation.',
  'deploy/backup/backup.',
];

/** Vitest orders files by their size where no earlier run says how long they took, as in a clean clone. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = Map.groupBy(sorted, ({ project }) => project);
    return [...projects.values()].flatMap((own) => own.toSorted((a, b) => placeOf(a) - placeOf(b)));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = SLOWEST.findIndex((part) => moduleId.includes(part));
  return place === -1 ? SLOWEST.length : place;
}
