import { codePointLength, isPlainText } from '@pixmesh/kernel/text';
import { z } from 'zod';

/** What JSON Schema can say of `isPlainText`; lone surrogates it cannot. */
export const TEXT_WITH_CONTENT_PATTERN =
  '^[^\\x00-\\x1F\\x7F]*[^\\s\\x00-\\x1F\\x7F][^\\x00-\\x1F\\x7F]*$';
const PLAIN_TEXT_PATTERN = '^[^\\x00-\\x1F\\x7F]*$';

/** Text of a body: counted in code points, without control characters or lone surrogates (decisions 19, 20, 247). */
export function textField(limits: { min?: number; max: number }) {
  return z
    .string()
    .refine(
      (text) => {
        const length = codePointLength(text);
        return length >= (limits.min ?? 0) && length <= limits.max && isPlainText(text);
      },
      { error: `expected ${lengthIn(limits)}, without control characters` },
    )
    .meta({
      ...(limits.min === undefined ? {} : { minLength: limits.min }),
      maxLength: limits.max,
      pattern: PLAIN_TEXT_PATTERN,
    });
}

function lengthIn({ min, max }: { min?: number; max: number }): string {
  return min === undefined ? `at most ${max} characters` : `${min} to ${max} characters`;
}

/** An optional text of a body: null and absent are the same, and empty text is stored as null (decisions 7, 101). */
export function optionalText(limits: { min?: number; max: number }) {
  return textField(limits)
    .nullish()
    .transform((text) => text || null);
}

/** Text that means something to `parse`; where it answers null, the text is a fault. */
export function parsedText<T>(parse: (text: string) => T | null, message: string) {
  return z.string().transform((text, context): T => {
    const value = parse(text);
    if (value !== null) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}
