import type { Need, World } from '../world/world.ts';
import type { SectionId } from './sections.ts';

type Sentence = { id: string; sentence: string };
type Run = (world: World) => Promise<void>;

/** A sentence that a client can see kept or broken. */
export type ObservedCase = Sentence & {
  kind: 'observed';
  needs: readonly Need[];
  run: Run;
};

/** A sentence that no client can check. */
export type StatedCase = Sentence & { kind: 'unobservable'; reason: string };

export type CaseOfSection = ObservedCase | StatedCase;
export type Case = CaseOfSection & { section: SectionId };

/** Makes cases. What they need is said in front: `it.admin.simulator(…)`. */
export type Observe = ((id: string, sentence: string, run: Run) => ObservedCase) & {
  readonly [word in Need]: Observe;
};

export const it = observing([]);
/** With a payer, and with what arrives at the receiver. */
export const delivered = it.simulator.receiver;
/** With merchants of the case's own, and payers. */
export const staged = it.admin.simulator;
/** With what arrives at the receiver after a minute. */
export const patient = it.receiver.patience;

function observing(needs: readonly Need[]): Observe {
  const observe = (id: string, sentence: string, run: Run): ObservedCase => {
    return { kind: 'observed', id, sentence, needs, run };
  };
  return new Proxy(observe as Observe, {
    get: (_target, word) => observing([...needs, word as Need]),
  });
}

export function unobservable(id: string, sentence: string, reason: string): StatedCase {
  return { kind: 'unobservable', id, sentence, reason };
}

/** The cases of one section; their ids begin with its name. */
export function section(id: SectionId, cases: readonly CaseOfSection[]): Case[] {
  return cases.map((one) => ({ ...one, id: `${id}.${one.id}`, section: id }));
}
