import { parseId } from '@pixmesh/kernel/ids';
import { isPlainText } from '@pixmesh/kernel/text';
import { z } from 'zod';

/** Text of a filter: what could not be stored cannot be looked for either (decision 19). */
export const QueryText = z.string().refine(isPlainText);

/** A UUID in a query, in any case. */
export const QueryId = z
  .string()
  .transform((text, context) => {
    const id = parseId(text);
    if (id !== null) return id;
    context.addIssue({ code: 'custom', message: 'expected a UUID' });
    return z.NEVER;
  })
  .meta({ format: 'uuid' });
