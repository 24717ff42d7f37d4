import { z } from 'zod';

import { textField } from '../http/text-field.ts';

const NAME_LENGTH_MAX = 200;

/** What operators call something: trimmed, and not empty then. */
export function adminName() {
  return z
    .string()
    .transform((text) => text.trim())
    .pipe(textField({ min: 1, max: NAME_LENGTH_MAX }));
}
