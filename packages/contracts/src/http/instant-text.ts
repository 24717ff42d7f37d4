import { z } from 'zod';

import { parsedText } from './text-field.ts';

const DATE_ONLY = /^\d{4}-\d{2}-\d{2}$/;
/** Behind the milliseconds. */
const FINER_DIGITS = /\.\d{3}\d*[1-9]/;
const EXPECTED = 'expected a date, or a date and time with Z or an offset';
const FORMATS = {
  anyOf: [
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'date' },
  ],
};

/**
 * An instant in a query: a date-time with `Z` or an offset, or a date alone, which means its first moment in
 * UTC (decisions 89, 249). Impossible dates and date-times without an offset are none. Digits behind the milliseconds
 * are left out: what is compared with it has none (decision 88).
 */
export const InstantText = parsedText(readInstant, EXPECTED).meta(FORMATS);

/** The same as an upper bound: what stands in its millisecond is before it where it has digits behind that. */
export const UpperInstantText = parsedText(readUpperInstant, EXPECTED).meta(FORMATS);

function readUpperInstant(text: string): Date | null {
  const instant = readInstant(text);
  return instant !== null && FINER_DIGITS.test(text) ? new Date(instant.getTime() + 1) : instant;
}

function readInstant(text: string): Date | null {
  const form = DATE_ONLY.test(text) ? z.iso.date() : z.iso.datetime({ offset: true });
  return form.safeParse(text).success ? new Date(text) : null;
}
