import { z } from 'zod';

/**
 * A secret while it is being changed (decision 261, ADR 0032): `current` is the one that is used, `other` is accepted
 * beside it, and stands only for as long as a change takes.
 */
export type RotatableSecret<One> = { current: One; other: One | null };

/**
 * A setting that holds one secret, or two separated by a comma, the current one first. `read` answers null for a text
 * that is none.
 */
export function rotatableSecret<One>(read: (text: string) => One | null, expected: string) {
  return z.string({ error: expected }).transform((text, context): RotatableSecret<One> => {
    const [current = null, other, ...more] = text.split(',').map(read);
    if (current !== null && other !== null && more.length === 0) {
      return { current, other: other ?? null };
    }
    const message = `${expected}, or two of them separated by a comma`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

/** Both, or the one that there is. */
export function acceptedValues<One>({ current, other }: RotatableSecret<One>): One[] {
  return other === null ? [current] : [current, other];
}
