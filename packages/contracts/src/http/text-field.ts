import { codePointLength, isPlainText } from '@pixmesh/kernel/text';
import { z } from 'zod';

/** Text of a body: counted in code points, without control characters or lone surrogates (decisions 19, 20, 247). */
export function textField(limits: { min?: number; max: number }) {
  return z.string().refine((text) => {
    const length = codePointLength(text);
    return length >= (limits.min ?? 0) && length <= limits.max && isPlainText(text);
  });
}

/** An optional text of a body: null and absent are the same, and empty text is stored as null (decisions 7, 101). */
export function optionalText(limits: { min?: number; max: number }) {
  return textField(limits)
    .nullish()
    .transform((text) => text || null);
}
