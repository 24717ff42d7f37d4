import { z } from 'zod';

import { parsedText } from './text-field.ts';

const DATE_ONLY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * An instant in a query: a date-time with `Z` or an offset, or a date alone, which means its first moment in
 * UTC (decisions 89, 249). Impossible dates and date-times without an offset are none.
 */
export const InstantText = parsedText(
  readInstant,
  'expected a date, or a date and time with Z or an offset',
).meta({
  anyOf: [
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'date' },
  ],
});

function readInstant(text: string): Date | null {
  const form = DATE_ONLY.test(text) ? z.iso.date() : z.iso.datetime({ offset: true });
  return form.safeParse(text).success ? new Date(text) : null;
}
