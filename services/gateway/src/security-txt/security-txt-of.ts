import { observeSecurityTxt } from '#events.ts';

import type { GatewayConfig } from '#config.ts';
import { defaultExpiry, type SecurityTxt } from './security-txt.ts';

/** Logs the `security.txt` of the configuration, with its date as a gauge; null where it names no contact. */
export function announceSecurityTxt(config: GatewayConfig): SecurityTxt | null {
  if (config.SECURITY_CONTACT === undefined) return null;
  const expiresAt = config.SECURITY_TXT_EXPIRES ?? defaultExpiry(new Date());
  observeSecurityTxt(expiresAt);
  const canonicalUrl = config.SECURITY_TXT_URL ?? null;
  return { contact: config.SECURITY_CONTACT, canonicalUrl, expiresAt };
}
