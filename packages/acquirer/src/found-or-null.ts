import { AppError } from '@pixmesh/kernel/app-error';

import type { Lookup } from './acquirer.ts';

/**
 * What a look-up found, or null.
 * @throws AppError `DEPENDENCY_UNAVAILABLE` where the acquirer did not say
 */
export function foundOrNull<T>(lookup: Lookup<T>): T | null {
  if (lookup.kind === 'found') return lookup.value;
  if (lookup.kind === 'not_found') return null;
  throw new AppError('DEPENDENCY_UNAVAILABLE', { message: `look-up unknown: ${lookup.cause}` });
}
