import { z } from 'zod';

const LIMIT_MAX = 1_000_000;

/** A limit as it is stored; null: none. */
export const Limit = z.int().min(1).max(LIMIT_MAX).nullable();

/** A limit in a body: absent leaves it as it is, and null removes it (decision 273). */
export const LimitField = Limit.optional();
