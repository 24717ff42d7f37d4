import { z } from 'zod';

/** Years keep their four digits in every form and zone, also three days later, and none is before Christ. */
const EARLIEST_MS = Date.UTC(1970, 0, 1);
const LATEST_MS = Date.UTC(9998, 11, 31);

/** An instant that somebody names in the control API. Postgres would keep others, and nobody could show them. */
export const ControlTime = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .refine((at) => at.getTime() >= EARLIEST_MS && at.getTime() <= LATEST_MS);
