import { AppError } from '@pixmesh/kernel/app-error';

/**
 * Where a payment by BR Code ends: reading the text, fetching what its location serves, reading that, believing its
 * signature, paying the charge that it shows.
 */
type PayerStep = 'br_code' | 'location' | 'payload' | 'signature' | 'charge';

/** `details` names the step; the message says what was wrong there. */
export function stepFailed(step: PayerStep, reason: string, cause?: unknown): AppError {
  return new AppError(step === 'br_code' ? 'VALIDATION_ERROR' : 'CONFLICT', {
    publicMessage: `${step}: ${reason}`,
    details: [step],
    cause,
  });
}
