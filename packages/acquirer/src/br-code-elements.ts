import assert from 'node:assert';

/** The elements of a BR Code or of one of its templates: two-digit id → value, in order of appearance. */
export type Elements = ReadonlyMap<string, string>;

export type ElementsRead = { kind: 'ok'; elements: Elements } | { kind: 'broken'; reason: string };

/** Two digits of length bound a value to 99 characters. */
const VALUE_LENGTH_MAX = 99;
const HEADER_LENGTH = 4;
const SURROGATE = /[\ud800-\udfff]/;
/** The CRC of each single byte, begun with 0. */
const CRC_OF_BYTE = Uint16Array.from({ length: 256 }, (_, byte) => crcOfByte(byte));

/**
 * Splits a text into elements of id (2 digits), length (2 digits) and value. Lengths count
 * characters, not bytes. An id may stand once per level: two values would let two readers disagree.
 */
export function readElements(text: string): ElementsRead {
  const { length, slice } = charactersOf(text);
  const elements = new Map<string, string>();
  let position = 0;
  while (position < length) {
    const header = slice(position, position + HEADER_LENGTH);
    if (!/^[0-9]{4}$/.test(header)) return broken(`truncated element header at ${position}`);
    const id = header.slice(0, 2);
    const start = position + HEADER_LENGTH;
    const end = start + Number(header.slice(2));
    if (end > length) return broken(`element ${id}: length runs past the end`);
    if (elements.has(id)) return broken(`element ${id} stands twice`);
    elements.set(id, slice(start, end));
    position = end;
  }
  return { kind: 'ok', elements };
}

/** Characters and not units of UTF-16: they differ where a text has surrogates, which codes hardly ever have. */
function charactersOf(text: string): { length: number; slice(from: number, to: number): string } {
  if (!SURROGATE.test(text))
    return { length: text.length, slice: (from, to) => text.slice(from, to) };
  const characters = Array.from(text);
  return { length: characters.length, slice: (from, to) => characters.slice(from, to).join('') };
}

/** Writes one element, or nothing when there is no value. The value is ASCII of at most 99 characters. */
export function writeElement(id: string, value: string | undefined): string {
  if (value === undefined) return '';
  assert(value.length <= VALUE_LENGTH_MAX, `element ${id} is too long`);
  return `${id}${String(value.length).padStart(2, '0')}${value}`;
}

/**
 * CRC-16/CCITT-FALSE (polynomial 1021, initial FFFF, no reflection) of the UTF-8 bytes, as four
 * upper-case hexadecimal digits: `123456789` gives `29B1`.
 */
export function crc16(text: string): string {
  let crc = 0xffff;
  for (const byte of Buffer.from(text)) {
    crc = ((crc << 8) & 0xffff) ^ (CRC_OF_BYTE[(crc >> 8) ^ byte] ?? 0);
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}

function crcOfByte(byte: number): number {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
}

function broken(reason: string): ElementsRead {
  return { kind: 'broken', reason };
}
