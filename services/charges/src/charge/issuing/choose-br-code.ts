import { parseBrCode } from '@pixmesh/acquirer/br-code';
import { buildDynamicBrCode } from '@pixmesh/acquirer/br-code-writer';
import type { AcquirerCharge } from '@pixmesh/acquirer/acquirer';
import type { Receiver } from '@pixmesh/contracts/http/charge';

/** A city is required by the standard and ignored by payers' apps on dynamic codes. */
const MERCHANT_CITY = 'BRASILIA';

/**
 * The copy-and-paste text of an issued charge: the acquirer's where it parses and its checksum holds, else
 * built from the location that the acquirer gave; null when neither is possible (decision 67).
 */
export function chooseBrCode(charge: AcquirerCharge, receiver: Receiver): string | null {
  if (charge.brCode !== null && parseBrCode(charge.brCode).kind === 'valid') return charge.brCode;
  if (charge.location === null) return null;
  return buildDynamicBrCode({
    location: charge.location,
    merchantName: receiver.name ?? 'PIXMESH',
    merchantCity: MERCHANT_CITY,
  });
}
