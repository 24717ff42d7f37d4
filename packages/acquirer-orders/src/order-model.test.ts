import { assertNever } from '@pixmesh/kernel/app-error';
import { testSeed } from '@pixmesh/testkit/test-seed';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { decideNotFound, type OrderAnswer, type OrderCalls } from './order-calls.ts';
import { placeOrder } from './place-order.ts';

const SEED = testSeed();
const RUNS = 2_000;
const STEPS_MAX = 40;
const WORKERS = 2;
/** Rounds without faults until the order has ended. */
const ROUNDS_MAX = 6;
const LIMITS = { callMs: 4_000, refusalWaitMs: 900_000 };
const LEASE_MS = 10_000;
/** After this time a call that nobody has answered has no effect any more. */
const EFFECT_MS_MAX = LIMITS.refusalWaitMs - LEASE_MS;

/** What becomes of one call: its effect and its answer are two things. */
type Fate = 'accept' | 'refuse' | 'lose_call' | 'lose_answer' | 'effect_later' | 'never_sent';

/** A worker goes on to its next wait; it crashes where it waits; it sleeps while others go on. */
type Step =
  | { kind: 'go'; worker: number; fate: Fate }
  | { kind: 'turn'; worker: number; fate: Fate }
  | { kind: 'crash'; worker: number }
  | { kind: 'late_call_lands' }
  | { kind: 'time_passes'; ms: number };

const fates = fc.oneof<{ arbitrary: fc.Arbitrary<Fate>; weight: number }[]>(
  { weight: 3, arbitrary: fc.constant('effect_later') },
  { weight: 3, arbitrary: fc.constant('refuse') },
  { weight: 1, arbitrary: fc.constantFrom('accept', 'lose_call', 'lose_answer', 'never_sent') },
);
const workers = fc.nat(WORKERS - 1);
const times = fc.constantFrom(LIMITS.callMs, LEASE_MS, LIMITS.refusalWaitMs);
const steps = fc.array(
  fc.oneof<{ arbitrary: fc.Arbitrary<Step>; weight: number }[]>(
    { weight: 8, arbitrary: goes('go') },
    { weight: 4, arbitrary: goes('turn') },
    { weight: 1, arbitrary: workers.map((worker) => ({ kind: 'crash', worker })) },
    { weight: 2, arbitrary: fc.constant({ kind: 'late_call_lands' }) },
    { weight: 4, arbitrary: times.map((ms) => ({ kind: 'time_passes', ms })) },
  ),
  { minLength: 4, maxLength: STEPS_MAX, size: 'max' },
);

function goes(kind: 'go' | 'turn'): fc.Arbitrary<Step> {
  return fc.record({ worker: workers, fate: fates }).map((step) => ({ kind, ...step }));
}

test(`an order has at most one effect, fails only without any, and ends once faults stop (seed ${SEED})`, async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const world = aWorld();
      for (const step of script) await world.take(step);
      await world.endFaults();
      expect(world.state()).toEqual({ ended: true, effects: world.hasFailed() ? 0 : 1 });
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

type Row = OrderCalls & { version: number; leaseUntil: number; status: 'open' | 'done' | 'failed' };

/** One row, one acquirer and two workers under leases, over a clock that only the script moves. */
function aWorld() {
  let now = 1_000_000;
  let fate: Fate = 'accept';
  const acquirer = anAcquirer(() => now);
  let row: Row = {
    unansweredCalls: 0,
    lastCallAt: null,
    uncountedRefusal: null,
    readAt: new Date(now),
    version: 1,
    leaseUntil: 0,
    status: 'open',
  };
  const team = Array.from({ length: WORKERS }, () => aWorker(runTurn));
  return {
    take,
    endFaults,
    hasFailed: () => row.status === 'failed',
    state: () => ({ ended: row.status !== 'open', effects: acquirer.effects() }),
  };

  async function take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'go':
        fate = step.fate;
        return await team[step.worker]?.go();
      case 'turn':
        fate = step.fate;
        return await team[step.worker]?.finish();
      case 'crash':
        return team[step.worker]?.crash();
      case 'late_call_lands':
        return acquirer.landLateCall();
      case 'time_passes':
        return void (now += step.ms);
      default:
        return assertNever(step);
    }
  }

  /** Nothing gets lost any more; who slept wakes, and time passes as it does. */
  async function endFaults(): Promise<void> {
    fate = 'accept';
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      for (const worker of team) await worker.finish();
      acquirer.landLateCall();
      now += round === ROUNDS_MAX / 2 ? LIMITS.refusalWaitMs : LEASE_MS;
    }
  }

  /** What a service's worker does: lease, status check, and a call where the acquirer has nothing. */
  async function runTurn(pause: () => Promise<void>): Promise<void> {
    if (row.status !== 'open' || row.leaseUntil > now) return;
    const leaseUntil = now + LEASE_MS;
    row = { ...row, leaseUntil };
    const leased = { ...row, readAt: new Date(now) };
    await pause();
    if (leased.lastCallAt !== null) {
      const isFound = acquirer.effects() > 0;
      await pause();
      if (isFound) return write(leased, { status: 'done' });
      const step = decideNotFound(leased, LIMITS);
      if (step.kind === 'fail') return fail(leased);
      if (step.kind === 'check_later') return write(leased, {});
    }
    await order(leased, leaseUntil, pause);
  }

  async function order(leased: Row, leaseUntil: number, pause: () => Promise<void>): Promise<void> {
    const placed = await placeOrder<Row, null>({
      count: () => Promise.resolve(count(leased, leaseUntil)),
      get callBeforeMs() {
        return now < leaseUntil - LIMITS.callMs ? Number.POSITIVE_INFINITY : 0;
      },
      call: () => {
        expect(row.status).toBe('open');
        return Promise.resolve(acquirer.call(fate));
      },
      answered: acquirer.endCall,
      failpoint: pause,
    });
    if (placed === null) return;
    const { step, row: counted } = placed;
    switch (step.kind) {
      case 'accepted':
        return write(counted, { status: 'done' });
      case 'fail':
        return fail(counted);
      case 'record_refusal':
        return write(counted, { uncountedRefusal: counted.uncountedRefusal ?? step.reason });
      case 'uncount': {
        const { lastCallAt } = step;
        return write(counted, { unansweredCalls: counted.unansweredCalls - 1, lastCallAt });
      }
      case 'check_later':
        return write(counted, {});
      default:
        return assertNever(step);
    }
  }

  function count(leased: Row, leaseUntil: number) {
    if (row.version !== leased.version || row.leaseUntil !== leaseUntil) return null;
    const { unansweredCalls, lastCallAt: formerCallAt } = row;
    row = { ...row, unansweredCalls: unansweredCalls + 1, lastCallAt: new Date(now) };
    row.version += 1;
    return { row: { ...row }, formerCallAt };
  }

  function fail(before: Row): void {
    if (before.version === row.version) expect(acquirer.mayHaveEffect()).toBe(false);
    write(before, { status: 'failed' });
  }

  /** Guarded by the version: what comes too late changes nothing. */
  function write(before: Row, changes: Partial<Row>): void {
    if (before.version !== row.version) return;
    row = { ...row, ...changes, version: row.version + 1, leaseUntil: 0 };
  }
}

/**
 * An acquirer that knows one order by its id, and whose calls may have their effect after their answer was given up.
 */
function anAcquirer(now: () => number) {
  let effects = 0;
  let inFlightUntil = 0;
  const underWay: number[] = [];
  return {
    effects: () => effects,
    mayHaveEffect: () => effects > 0 || underWay.some(isLive),
    endCall: () => void (inFlightUntil = 0),
    landLateCall: () => {
      const madeAt = underWay.shift();
      if (madeAt !== undefined && isLive(madeAt)) effects = 1;
    },
    call: (fate: Fate): OrderAnswer<null> => {
      if (fate === 'never_sent') return { kind: 'unknown', cause: 'breaker_open' };
      // Two workers never have a call in flight at the same time.
      expect(now()).toBeGreaterThanOrEqual(inFlightUntil);
      inFlightUntil = now() + LIMITS.callMs;
      if (fate === 'effect_later') underWay.push(now());
      if (fate === 'lose_call' || fate === 'effect_later') return TIMEOUT;
      if (effects > 0) return { kind: 'unknown', cause: 'duplicate' };
      if (fate === 'refuse') return { kind: 'refused', code: 'pagamento_negado', message: 'no' };
      effects += 1;
      return fate === 'lose_answer' ? TIMEOUT : { kind: 'accepted', value: null };
    },
  };

  function isLive(madeAt: number): boolean {
    return now() - madeAt < EFFECT_MS_MAX;
  }
}

const TIMEOUT = { kind: 'unknown', cause: 'timeout' } as const;

/** Runs one turn after the other; between two waits of a turn everything else may happen. */
function aWorker(runTurn: (pause: () => Promise<void>) => Promise<void>) {
  let resume: (() => void) | null = null;
  let reached = Promise.withResolvers<void>();
  return {
    go,
    finish: async () => {
      do await go();
      while (resume !== null);
    },
    /** Its process is gone: nobody resumes what it waited for. */
    crash: () => {
      resume = null;
    },
  };

  async function go(): Promise<void> {
    reached = Promise.withResolvers<void>();
    const { promise } = reached;
    const waiting = resume;
    resume = null;
    if (waiting === null)
      runTurn(pause).then(
        () => reached.resolve(),
        (error) => reached.reject(error),
      );
    else waiting();
    await promise;
  }

  async function pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      resume = resolve;
      reached.resolve();
    });
  }
}
