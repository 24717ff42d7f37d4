import type { Lookup } from './acquirer.ts';

/**
 * What a look-up of one thing was answered, in the word that is stored: `found`, `not_found`, or why there is no
 * answer.
 */
export type AnswerWord = string;

export function toAnswerWord(lookup: Lookup<unknown>): AnswerWord {
  return lookup.kind === 'unknown' ? lookup.cause : lookup.kind;
}

/** Nothing came back, or nothing was sent: nothing came back before, or there was no turn to ask. */
const UNREACHABLE = /^(token_)?(connection|timeout|aborted)$|^breaker_open|^no_turn/;

/** The word as operators read it. */
export function describeAnswer(word: AnswerWord) {
  if (word === 'found' || word === 'not_found') {
    return { reachable: true, answer: word, error: null } as const;
  }
  return { reachable: !UNREACHABLE.test(word), answer: 'none', error: word } as const;
}
