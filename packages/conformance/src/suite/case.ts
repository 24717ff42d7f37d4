import type { World } from '../world/world.ts';
import type { SectionId } from './sections.ts';

/**
 * What a case asks of whoever runs it, beside address and key. `funds`: a merchant with automatic payouts and
 * money to spend. `patience`: time to wait for what takes a minute.
 */
export type Need = 'admin' | 'simulator' | 'receiver' | 'funds' | 'patience';

type Sentence = { id: string; sentence: string };

/** A sentence that a client can see kept or broken. */
export type ObservedCase = Sentence & {
  kind: 'observed';
  needs: readonly Need[];
  /** It disturbs others (faults at the acquirer), so nothing else runs beside it. */
  alone: boolean;
  run: (world: World) => Promise<void>;
};

/** A sentence that no client can check. */
export type StatedCase = Sentence & { kind: 'unobservable'; reason: string };

export type CaseOfSection = ObservedCase | StatedCase;
export type Case = CaseOfSection & { section: SectionId };

/** The cases of one section; their ids begin with its name. */
export function section(id: SectionId, cases: readonly CaseOfSection[]): Case[] {
  return cases.map((one) => ({ ...one, id: `${id}.${one.id}`, section: id }));
}

export function observed(id: string, sentence: string, run: ObservedCase['run']): ObservedCase {
  return { kind: 'observed', id, sentence, needs: [], alone: false, run };
}

export function unobservable(id: string, sentence: string, reason: string): StatedCase {
  return { kind: 'unobservable', id, sentence, reason };
}

export function needing(needs: readonly Need[], cases: readonly ObservedCase[]): ObservedCase[] {
  return cases.map((one) => ({ ...one, needs: [...new Set([...needs, ...one.needs])] }));
}

export function alone(cases: readonly ObservedCase[]): ObservedCase[] {
  return cases.map((one) => ({ ...one, alone: true }));
}
