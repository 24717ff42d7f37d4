import { z } from 'zod';

/** Why a field is refused that API Pix knows. */
export const NOT_SIMULATED = 'não é simulado';

/** A field of API Pix that is refused rather than ignored: it would mean something else than what is done. */
export function notSimulated() {
  return z.undefined(NOT_SIMULATED).optional();
}
