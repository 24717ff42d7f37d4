/** Lifetime of `security.txt` when no date is configured; the standard advises less than a year. */
const VALID_DAYS = 180;
const DAY_MS = 24 * 60 * 60 * 1000;

export type SecurityTxt = {
  /** Where researchers report what they found: `mailto:` or `https:`. */
  contact: string;
  /** Its own public address; null where the installation does not know it. */
  canonicalUrl: string | null;
  expiresAt: Date;
};

/** The date of a configuration that names none: it counts from the start of the process. */
export function defaultExpiry(startedAt: Date): Date {
  return new Date(startedAt.getTime() + VALID_DAYS * DAY_MS);
}

/** The file of RFC 9116: one field a line, lines ended by CRLF or LF (section 2.2). */
export function renderSecurityTxt({ contact, canonicalUrl, expiresAt }: SecurityTxt): string {
  const lines = [
    `Contact: ${contact}`,
    `Expires: ${expiresAt.toISOString()}`,
    ...(canonicalUrl === null ? [] : [`Canonical: ${canonicalUrl}`]),
    'Preferred-Languages: en, pt',
  ];
  return `${lines.join('\n')}\n`;
}
