import { parseId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Scope } from '@pixmesh/reconciliation/check';
import { createWalk } from '@pixmesh/reconciliation/walk';

import { findChangedOwners, findOwners, type Owner, readOwners } from './slices.sql.ts';

/** Journals that one statement compares: far below the limit of a statement's time, however large an owner is. */
const JOURNALS_PER_STEP = 10_000;
const OWNERS_PER_PAGE = 1_000;
/** Journals beside the changed ones that an incremental run compares again. */
const WALK_JOURNALS_MAX = 10_000;

/** Some journals of one owner: behind `from`, up to and including `to`. */
export type Slice = {
  accountId: string;
  from: bigint;
  /** Null: the newest there is, so that the end can be compared with the owner's row. */
  to: bigint | null;
};

/** A statement's worth of slices, and how many journals they hold. */
export type Step = { slices: Slice[]; journals: number };

/** Everything a run has to compare. */
export type Slices = (scope: Scope) => AsyncGenerator<Step>;

/**
 * Cuts the ledger into pieces. A full run sees every journal. An incremental one sees those since the watermark,
 * owners whose parts do not add up, what it had found, and goes on with a slow walk over all the rest.
 */
export function createSlices(db: Database): Slices {
  const walk = createWalk<Owner>({
    read: (after, limit) => readOwners(db, { after, limit }),
    idOf: ({ accountId }) => accountId,
    pageSize: OWNERS_PER_PAGE,
  });
  let waiting: Owner[] = [];
  return async function* slicesOf(scope) {
    if (scope.since !== null) {
      yield* cutIntoSteps(await incrementalOwners(scope.since, scope));
      return;
    }
    for await (const owners of walk.all()) yield* cutIntoSteps(owners);
  };

  async function incrementalOwners(since: Date, { knownIds }: Scope): Promise<Owner[]> {
    const known = await findOwners(db, knownIds.flatMap(uuidIn));
    const again = new Map([...(await takeFromWalk()), ...known].map((one) => [one.accountId, one]));
    const changed = await findChangedOwners(db, since);
    return [...again.values(), ...changed.filter(({ accountId }) => !again.has(accountId))];
  }

  /** An owner with more journals than a run walks over waits for the full run, except for what is new. */
  async function takeFromWalk(): Promise<Owner[]> {
    if (waiting.length === 0) waiting = await walk.next();
    const taken: Owner[] = [];
    let room = BigInt(WALK_JOURNALS_MAX);
    while (waiting[0] !== undefined) {
      const isHuge = waiting[0].version > WALK_JOURNALS_MAX;
      if (!isHuge && waiting[0].version > room) break;
      const [owner] = waiting.splice(0, 1);
      if (isHuge || owner === undefined) continue;
      room -= owner.version;
      taken.push(owner);
    }
    return taken;
  }
}

/** Small owners share a step, a large one takes several. */
export function* cutIntoSteps(owners: readonly Owner[]): Generator<Step> {
  let step: Step = { slices: [], journals: 0 };
  for (const { slice, journals } of owners.flatMap((owner) => [...cutOwner(owner)])) {
    step.slices.push(slice);
    step.journals += journals;
    if (step.journals < JOURNALS_PER_STEP && step.slices.length < OWNERS_PER_PAGE) continue;
    yield step;
    step = { slices: [], journals: 0 };
  }
  if (step.slices.length > 0) yield step;
}

function* cutOwner(owner: Owner): Generator<{ slice: Slice; journals: number }> {
  const { accountId, version } = owner;
  const size = BigInt(JOURNALS_PER_STEP);
  let from = owner.from;
  while (version - from > size) {
    yield { slice: { accountId, from, to: from + size }, journals: JOURNALS_PER_STEP };
    from += size;
  }
  yield { slice: { accountId, from, to: null }, journals: Number(version - from) };
}

/** Ids of breaks begin with an account's or a command's id. */
function uuidIn(breakId: string): string[] {
  const id = parseId(breakId.split('/')[0] ?? '');
  return id === null ? [] : [id];
}
