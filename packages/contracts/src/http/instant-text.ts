import { z } from 'zod';

const DATE_ONLY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * An instant in a query: a date-time with `Z` or an offset, or a date alone, which means its first moment in
 * UTC (decisions 89, 249). Impossible dates and date-times without an offset are none.
 */
export const InstantText = z
  .string()
  .transform((text, context): Date => {
    const parsed = DATE_ONLY.test(text)
      ? z.iso.date().safeParse(text)
      : z.iso.datetime({ offset: true }).safeParse(text);
    if (parsed.success) return new Date(parsed.data);
    context.addIssue({ code: 'custom', message: 'expected an instant' });
    return z.NEVER;
  })
  .meta({
    anyOf: [
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'date' },
    ],
  });
