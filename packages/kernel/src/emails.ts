import { codePointLength, isPlainText } from './text.ts';

/** Longest address of a customer, in code points. */
export const EMAIL_LENGTH_MAX = 254;
const DOMAIN_LENGTH_MAX = 253;
const LABEL_LENGTH_MAX = 63;

/**
 * Whether a text may be a customer's e-mail address (decision 98): at most 254 code points, one
 * `@`, something without spaces before it and a public domain name after it. Lenient on purpose,
 * internationalised names included: a false refusal costs a sale, a wrong address costs nothing.
 */
export function isEmail(text: string): boolean {
  if (codePointLength(text) > EMAIL_LENGTH_MAX || !isPlainText(text)) return false;
  const [local, domain, ...rest] = text.split('@');
  if (local === undefined || domain === undefined || rest.length > 0) return false;
  return /^\S+$/.test(local) && isDomainName(domain);
}

/** At least two labels, the last one not a number: such a name would be an address literal. */
function isDomainName(text: string): boolean {
  const labels = text.split('.');
  return (
    text.length <= DOMAIN_LENGTH_MAX &&
    labels.length >= 2 &&
    labels.every(isDomainLabel) &&
    !/^[0-9]+$/.test(labels.at(-1) ?? '')
  );
}

/** Letters, marks and digits of any script; hyphens inside only. */
function isDomainLabel(label: string): boolean {
  return (
    label.length <= LABEL_LENGTH_MAX &&
    /^[\p{L}\p{M}\p{N}-]+$/u.test(label) &&
    !label.startsWith('-') &&
    !label.endsWith('-')
  );
}
