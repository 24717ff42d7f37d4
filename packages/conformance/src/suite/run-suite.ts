import type { Need, World } from '../world/world.ts';
import type { Case, ObservedCase } from './case.ts';
import { ExpectationError } from '../client/expectations.ts';

const CONCURRENCY = 4;
/** The longest wait of a case is one repetition of a delivery that timed out. */
const DEADLINE_MS = 100_000;

export type Outcome =
  | { kind: 'passed' }
  | { kind: 'failed'; what: string; expected: string; got: string }
  | { kind: 'not_run'; missing: readonly Need[] }
  | { kind: 'unobservable'; reason: string };

export type Result = { case: Case; outcome: Outcome; durationMs: number };

type RunOptions = { onResult?: (result: Result) => void };

/** Runs every case once. Those that wait for a minute go beside the rest and take none of its places. */
export async function runSuite(
  world: World,
  cases: readonly Case[],
  options: RunOptions = {},
): Promise<Result[]> {
  const results = new Map<Case, Result>();
  const runOne = async (one: Case): Promise<void> => {
    const result = await runCase(world, one);
    results.set(one, result);
    options.onResult?.(result);
  };
  const isPatient = (one: Case): boolean =>
    one.kind === 'observed' && one.needs.includes('patience');
  const patient = cases.filter(isPatient);
  const others = cases.filter((one) => !isPatient(one));
  await Promise.all([
    inParallel(patient, Math.max(1, patient.length), runOne),
    inParallel(others, CONCURRENCY, runOne),
  ]);
  return cases.flatMap((one) => results.get(one) ?? []);
}

async function runCase(world: World, one: Case): Promise<Result> {
  const startedMs = performance.now();
  const outcome = await outcomeOf(world, one);
  return { case: one, outcome, durationMs: performance.now() - startedMs };
}

async function outcomeOf(world: World, one: Case): Promise<Outcome> {
  if (one.kind !== 'observed') return { kind: one.kind, reason: one.reason };
  const missing = one.needs.filter((need) => !world.abilities.has(need));
  if (missing.length > 0) return { kind: 'not_run', missing };
  try {
    await withDeadline(world, one);
    return { kind: 'passed' };
  } catch (error) {
    return toFailure(world, error);
  }
}

async function withDeadline(world: World, one: ObservedCase): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new ExpectationError('the case', `an end within ${DEADLINE_MS} ms`, 'none'));
  }, DEADLINE_MS);
  try {
    await Promise.race([runFunded(world, one), promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function runFunded(world: World, one: ObservedCase): Promise<void> {
  if (one.needs.includes('funds')) await world.funded();
  await one.run(world);
}

/** What may be shown: a report leaves the machine, and answers may carry what was sent. */
function toFailure(world: World, error: unknown): Outcome {
  const { what, expected, got } =
    error instanceof ExpectationError
      ? { what: error.message, expected: error.expected, got: error.got }
      : { what: 'the case could not be carried out', expected: 'no error', got: String(error) };
  return {
    kind: 'failed',
    what: world.redact(what),
    expected: world.redact(expected),
    got: world.redact(got),
  };
}

async function inParallel(
  cases: readonly Case[],
  workers: number,
  runOne: (one: Case) => Promise<void>,
): Promise<void> {
  const queue = [...cases];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await runOne(next);
  };
  await Promise.all(Array.from({ length: workers }, work));
}
