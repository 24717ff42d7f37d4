import { parseId } from '@pixmesh/kernel/ids';
import { isPlainText } from '@pixmesh/kernel/text';
import { z } from 'zod';

import { parsedText } from './text-field.ts';

/** Text of a filter: what could not be stored cannot be looked for either (decision 19). */
export const QueryText = z
  .string()
  .refine(isPlainText, { error: 'expected a text without control characters' });

/** A UUID in a query, in any case. */
export const QueryId = parsedText(parseId, 'expected a UUID').meta({ format: 'uuid' });
