import { crc16, readElements, type Elements } from './br-code-elements.ts';
import { GUI, LOCATION_PATTERN, ROOT_RULES, TXID_PATTERN } from './br-code-rules.ts';

/** What a payer's app reads from a code; null where the code does not say. */
export type BrCodeFields = BrCodeAccount & {
  pointOfInitiation: string | null;
  /** Reais with two decimals. Payers' apps ignore it on dynamic codes. */
  amount: string | null;
  merchantName: string;
  merchantCity: string;
  postalCode: string | null;
  /** `***` on dynamic codes, whose real txid lives behind the URL. */
  txid: string;
  /** Id of another account template of Pix beside 26: apps may differ in which of the two they pay. */
  secondAccount: string | null;
  recurrenceUrl: string | null;
  crc: string;
};

/** A static code names a Pix key, a dynamic one a URL without scheme. */
type BrCodeAccount = { kind: 'static'; key: string } | { kind: 'dynamic'; url: string };

type Invalid = { kind: 'invalid'; reason: string };
export type BrCode = { kind: 'valid'; fields: BrCodeFields } | Invalid;

/** The longest code that a payer's app has to take, in UTF-8. */
const BR_CODE_BYTES_MAX = 512;

/**
 * Reads a BR Code strictly (BR Code manual of the Central Bank): structure, CRC, and every element
 * that Pix knows. Unknown elements are skipped. `reason` is for the log; it quotes no content.
 */
export function parseBrCode(text: string): BrCode {
  if (text.length > BR_CODE_BYTES_MAX || Buffer.byteLength(text) > BR_CODE_BYTES_MAX) {
    return invalid(`longer than ${BR_CODE_BYTES_MAX} bytes`);
  }
  const read = readElements(text);
  if (read.kind === 'broken') return invalid(read.reason);
  const fault = findFrameFault(text, read.elements) ?? findElementFault(read.elements);
  return fault === null ? readFields(read.elements) : invalid(fault);
}

/** The CRC covers everything up to and including its own header, so 63 must come last. */
function findFrameFault(text: string, elements: Elements): string | null {
  const ids = [...elements.keys()];
  const crc = elements.get('63') ?? '';
  if (ids[0] !== '00' || elements.get('00') !== '01') return 'first element is not 00 = 01';
  if (ids.at(-1) !== '63' || crc.length !== 4) return 'last element is not 63 with 4 characters';
  return crc === crc16(text.slice(0, -4)) ? null : 'CRC does not match';
}

function findElementFault(elements: Elements): string | null {
  const broken = ROOT_RULES.find(({ id, pattern, optional }) => {
    const value = elements.get(id);
    return value === undefined ? optional !== true : !pattern.test(value);
  });
  return broken === undefined ? null : `element ${broken.id} is not ${broken.expected}`;
}

function readFields(elements: Elements): BrCode {
  const account = readAccount(elements.get('26') ?? '');
  if (account.kind === 'invalid') return account;
  const additional = readElements(elements.get('62') ?? '');
  const txid = additional.kind === 'ok' ? additional.elements.get('05') : undefined;
  if (txid === undefined || !TXID_PATTERN.test(txid)) {
    return invalid('62-05 is not 1 to 25 printable ASCII characters');
  }
  const fields = {
    ...account,
    pointOfInitiation: elements.get('01') ?? null,
    amount: elements.get('54') ?? null,
    merchantName: elements.get('59') ?? '',
    merchantCity: elements.get('60') ?? '',
    postalCode: elements.get('61') ?? null,
    txid,
    secondAccount: findSecondAccount(elements),
    recurrenceUrl: findRecurrenceUrl(elements),
    crc: elements.get('63') ?? '',
  };
  return { kind: 'valid', fields };
}

/** The template's limit of 99 leaves 77 characters to a key or URL, so only the form needs a check. */
function readAccount(template: string): BrCodeAccount | Invalid {
  const read = readElements(template);
  if (read.kind === 'broken') return invalid(read.reason);
  const { elements } = read;
  if (!isPixTemplate(elements)) return invalid(`no account template with GUI ${GUI}`);
  const key = elements.get('01');
  const url = elements.get('25');
  if ((key === undefined) === (url === undefined)) return invalid('neither key nor URL, or both');
  if (url === undefined) return key ? { kind: 'static', key } : invalid('the key is empty');
  return LOCATION_PATTERN.test(url) ? { kind: 'dynamic', url } : invalid('malformed URL');
}

/** Account templates have the ids 26 to 51. */
function findSecondAccount(elements: Elements): string | null {
  for (const [id, value] of elements) {
    if (id <= '26' || id > '51') continue;
    const read = readElements(value);
    if (read.kind === 'ok' && isPixTemplate(read.elements)) return id;
  }
  return null;
}

/** The composed code of Pix Automático puts a second URL into an unreserved template (80 to 99). */
function findRecurrenceUrl(elements: Elements): string | null {
  for (const [id, value] of elements) {
    if (id < '80') continue;
    const read = readElements(value);
    if (read.kind === 'broken' || !isPixTemplate(read.elements)) continue;
    const url = read.elements.get('25');
    if (url !== undefined) return url;
  }
  return null;
}

function isPixTemplate(elements: Elements): boolean {
  return elements.get('00')?.toLowerCase() === GUI;
}

function invalid(reason: string): Invalid {
  return { kind: 'invalid', reason };
}
