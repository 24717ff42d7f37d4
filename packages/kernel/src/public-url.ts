import { isIP } from 'node:net';

import { isPublicAddress, type CheckTime } from './ip-ranges.ts';
import { codePointLength, isPlainText } from './text.ts';

/** Longest webhook URL, in code points. The caller answers a longer one as a fault of shape (decision 163). */
const URL_LENGTH_MAX = 2048;

const NAME_LENGTH_MAX = 253;
const LABEL_LENGTH_MAX = 63;

/** Names that mean the own machine or network, with everything below them (decision 171). */
const LOCAL_NAMES = ['localhost', 'local', 'internal', 'home.arpa'];

export type UrlRefusal =
  | 'too_long'
  | 'bad_character'
  | 'bad_form'
  | 'unparsable'
  | 'credentials'
  | 'bad_port'
  | 'not_public_name'
  | 'not_public_address';

export type PublicUrl = { kind: 'ok'; url: URL } | { kind: 'refused'; reason: UrlRefusal };

/**
 * Checks a webhook URL by its text alone, without any look-up (decisions 163 to 175).
 * The text as sent is what gets stored and compared; only the parsed `url` may be dialled. A name
 * that passes is not yet public: its addresses are checked by `isPublicAddress` when it is dialled.
 */
export function checkPublicUrl(text: string, at: CheckTime): PublicUrl {
  const rawRefusal = checkRawText(text);
  if (rawRefusal !== null) return { kind: 'refused', reason: rawRefusal };
  const url = URL.parse(text);
  if (url === null) return { kind: 'refused', reason: 'unparsable' };
  const refusal = checkParsed(url, at);
  return refusal === null ? { kind: 'ok', url } : { kind: 'refused', reason: refusal };
}

/** The parser silently drops tabs and line ends and mends slashes, so these are checked before it. */
function checkRawText(text: string): UrlRefusal | null {
  if (codePointLength(text) > URL_LENGTH_MAX) return 'too_long';
  if (!isPlainText(text) || /[ \\]/.test(text)) return 'bad_character';
  return /^https?:\/\/[^/]/i.test(text) ? null : 'bad_form';
}

function checkParsed(url: URL, at: CheckTime): UrlRefusal | null {
  if (url.username !== '' || url.password !== '') return 'credentials';
  if (url.port === '0') return 'bad_port';
  const address = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address) !== 0) return isPublicAddress(address, at) ? null : 'not_public_address';
  return isPublicName(url.hostname) ? null : 'not_public_name';
}

/** Expects the parser's form: lower case, A-labels. One final dot only marks the name as complete. */
function isPublicName(hostname: string): boolean {
  const name = hostname.replace(/\.$/, '');
  const labels = name.split('.');
  return (
    name.length <= NAME_LENGTH_MAX &&
    labels.length >= 2 &&
    labels.every((label) => label.length >= 1 && label.length <= LABEL_LENGTH_MAX) &&
    !LOCAL_NAMES.some((local) => name === local || name.endsWith(`.${local}`))
  );
}
