import { globSync, readFileSync } from 'node:fs';

import type { Ring } from './run-ring.ts';

/** Files of the long run that end within an hour together, or each of so many shares of theirs (`shareOf`). */
type LongPart = { name: string; ring: Ring; shares?: number; holds(file: string): boolean };

export const PART_LIMIT_MS = 3_600_000;

const LONG_RUNS = '@pixmesh/testkit/long-runs';

/** Files that boot a stack of their own. */
const OWN_STACK = 'tests/e2e/long/';

const within =
  (...places: string[]) =>
  (file: string) =>
    places.some((place) => file.includes(place));

/** A file belongs to the first part that holds it; the last of a ring holds the rest. */
const PARTS: readonly LongPart[] = [
  { name: 'unit', ring: 'unit', holds: () => true },
  { name: 'ledger-model', ring: 'int', holds: within('ledger/test/proof/ledger-model') },
  { name: 'ledger', ring: 'int', holds: within('services/ledger/') },
  // Their times mean nothing beside other files.
  { name: 'charge-lists', ring: 'int', holds: within('charge/reads/list-million.') },
  { name: 'payout-lists', ring: 'int', holds: within('payouts/src/reads/list-million.') },
  { name: 'charge-recovery', ring: 'int', holds: within('notices/received-list.') },
  { name: 'charges', ring: 'int', holds: within('services/charges/') },
  { name: 'payout-creation', ring: 'int', holds: within('payouts/src/creation/') },
  { name: 'payouts', ring: 'int', holds: within('services/payouts/') },
  { name: 'webhooks', ring: 'int', holds: within('services/webhook-dispatcher/') },
  { name: 'others', ring: 'int', holds: () => true },
  { name: 'lives', ring: 'e2e', shares: 2, holds: within('/charge-lives') },
  { name: 'payout-races', ring: 'e2e', shares: 2, holds: within('/payouts-races') },
  { name: 'payout-kills', ring: 'e2e', holds: within('/payouts-kills') },
  { name: 'payout-lives', ring: 'e2e', holds: within('/payouts-', '/refund-') },
  { name: 'timing', ring: 'e2e', holds: within('/timing.') },
  { name: 'edges', ring: 'e2e', holds: within('fuzz', 'hostile', 'secrets') },
  { name: 'scaling', ring: 'e2e', holds: within('/scaling.') },
  { name: 'rotations', ring: 'e2e', holds: within('/rotations.') },
  { name: 'upgrades', ring: 'e2e', holds: within('/upgrades.') },
  { name: 'replicas', ring: 'e2e', holds: within('/replicas.') },
  { name: 'periods', ring: 'e2e', holds: within('/production-periods.') },
  { name: 'losses', ring: 'e2e', holds: within('/lost-messages.') },
  { name: 'outages', ring: 'e2e', holds: () => true },
];

type RunPart = { name: string; ring: Ring; share: string; files: string[] };

/** The parts with their files: those that have a longer count than in a usual run. */
export function listLongParts(): RunPart[] {
  const files = globSync(['{packages,services}/*/{src,test}/**/*.test.ts', 'tests/**/*.test.ts'])
    .filter((file) => isLonger(file) && !file.includes('/end/'))
    .sort();
  // What holds of everything that was done is asked after each part, where the ring's stack was used.
  const ends = globSync('tests/e2e/end/*.e2e.test.ts').sort();
  const usesStack = (file: string) => file.startsWith('tests/e2e/') && !file.startsWith(OWN_STACK);
  return PARTS.flatMap((part) => {
    const own = files.filter((file) => findPart(file) === part);
    if (own.length === 0) return [];
    return inShares(part, own.some(usesStack) ? [...own, ...ends] : own);
  });
}

function inShares({ name, ring, shares = 1 }: LongPart, files: string[]): RunPart[] {
  if (shares === 1) return [{ name, ring, share: '1/1', files }];
  return Array.from({ length: shares }, (_, index) => ({
    name: `${name}-${index + 1}`,
    ring,
    share: `${index + 1}/${shares}`,
    files,
  }));
}

/** Whether it has a longer count, or is in no other run at all. */
function isLonger(file: string): boolean {
  return file.startsWith(OWN_STACK) || readFileSync(file, 'utf8').includes(LONG_RUNS);
}

function findPart(file: string): LongPart | undefined {
  return PARTS.find((part) => part.ring === ringOf(file) && part.holds(file));
}

function ringOf(file: string): Ring {
  if (file.endsWith('.e2e.test.ts')) return 'e2e';
  return file.endsWith('.int.test.ts') ? 'int' : 'unit';
}
