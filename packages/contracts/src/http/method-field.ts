import { isPlainText } from '@pixmesh/kernel/text';
import { z } from 'zod';

import { orDefault } from './optional-field.ts';

/** The payment method of a creation. Another one has a code of its own, once the shape holds (decision 12). */
export const MethodField = orDefault(
  z.string().refine(isPlainText, { error: 'expected a text without control characters' }),
  'pix',
).meta({
  enum: ['pix', null],
  description: '`pix` when absent. Any other text is answered with `METHOD_NOT_SUPPORTED`.',
});
