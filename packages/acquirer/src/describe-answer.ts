import type { Lookup } from './acquirer.ts';
import { isUnreachable } from './unknown-causes.ts';

/**
 * What a look-up of one thing was answered, in the word that is stored: `found`, `not_found`, or why there is no
 * answer.
 */
export type AnswerWord = string;

export function toAnswerWord(lookup: Lookup<unknown>): AnswerWord {
  return lookup.kind === 'unknown' ? lookup.cause : lookup.kind;
}

/** The word as operators read it. */
export function describeAnswer(word: AnswerWord) {
  if (word === 'found' || word === 'not_found') {
    return { reachable: true, answer: word, error: null } as const;
  }
  return { reachable: !isUnreachable(word), answer: 'none', error: word } as const;
}
