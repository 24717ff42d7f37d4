import type { GatewayConfig } from '#config.ts';
import { observeSecurityTxt } from '#reports.ts';

import { defaultExpiry, type SecurityTxt } from './security-txt.ts';

/** The `security.txt` that the settings describe; null where they name no contact. Its date becomes a gauge. */
export function securityTxtOf(config: GatewayConfig): SecurityTxt | null {
  if (config.SECURITY_CONTACT === undefined) return null;
  const expiresAt = config.SECURITY_TXT_EXPIRES ?? defaultExpiry(new Date());
  observeSecurityTxt(expiresAt);
  const canonicalUrl = config.SECURITY_TXT_URL ?? null;
  return { contact: config.SECURITY_CONTACT, canonicalUrl, expiresAt };
}
