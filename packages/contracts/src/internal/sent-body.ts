import { z } from 'zod';

/** The operator's JSON object as it came; null where it could not be read as one (decision 253). */
export const SentBody = z.record(z.string(), z.unknown()).nullable();
