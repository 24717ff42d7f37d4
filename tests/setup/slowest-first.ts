import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that wait more than they work, slowest first: one that began last would keep its ring from ending. */
const SLOWEST = [
  'tests/e2e/conformance.',
  'tests/e2e/contract-fuzz.',
  'tests/e2e/payouts-unknown.',
  'charges/src/status-check/slow-updates.',
  'webhook-dispatcher/src/deaths.',
  'acquirer-simulator/src/durability.',
  'payouts/src/service.',
  'charges/src/refunds/refund-faults.',
  'payouts/src/sending/sender-death.',
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
