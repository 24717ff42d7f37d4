import type { DnsQuestion } from './dns-server.ts';

/** RFC 1035, section 4; RFC 3596 for AAAA. */
const HEADER_BYTES = 12;
const TYPES: Readonly<Record<string, number>> = { A: 1, CNAME: 5, AAAA: 28 };
const CLASS_INTERNET = 1;
const FLAGS_ANSWER = 0x8180;
const FLAG_TRUNCATED = 0x0200;
const ERROR_CODES = { SERVFAIL: 2, NXDOMAIN: 3 } as const;

type ReplyRecord = { owner: string; kind: string; value: string };

/** The one question of a query; its name in lower case, because resolvers mix the case to foil forgers. */
export function readQuestion(query: Buffer): DnsQuestion {
  const labels: string[] = [];
  let offset = HEADER_BYTES;
  for (let length = query[offset] ?? 0; length > 0; length = query[offset] ?? 0) {
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  const type = query.readUInt16BE(offset + 1) === TYPES['AAAA'] ? 'AAAA' : 'A';
  return { name: labels.join('.').toLowerCase(), type };
}

/** The records, or an error; beyond `bytesMax` only the mark that there would be more. */
export function encodeReply(
  query: Buffer,
  answered: readonly ReplyRecord[] | keyof typeof ERROR_CODES,
  bytesMax = Number.POSITIVE_INFINITY,
): Buffer {
  if (typeof answered === 'string') return encode(query, FLAGS_ANSWER | ERROR_CODES[answered], []);
  const whole = encode(query, FLAGS_ANSWER, answered);
  return whole.length <= bytesMax ? whole : encode(query, FLAGS_ANSWER | FLAG_TRUNCATED, []);
}

function encode(query: Buffer, flags: number, records: readonly ReplyRecord[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(flags, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  const question = query.subarray(HEADER_BYTES, endOfQuestion(query));
  return Buffer.concat([header, question, ...records.map(encodeRecord)]);
}

function endOfQuestion(query: Buffer): number {
  return query.indexOf(0, HEADER_BYTES) + 5;
}

/** With a time to live of 0: no answer may outlive its question. */
function encodeRecord({ owner, kind, value }: ReplyRecord): Buffer {
  const data = encodeValue(kind, value);
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(TYPES[kind] ?? 0, 0);
  fixed.writeUInt16BE(CLASS_INTERNET, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(owner), fixed, data]);
}

function encodeValue(kind: string, value: string): Buffer {
  if (kind === 'A') return Buffer.from(value.split('.').map(Number));
  return kind === 'AAAA' ? encodeIPv6(value) : encodeName(value);
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => {
    return Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')]);
  });
  return Buffer.concat([...labels, Buffer.from([0])]);
}

/** The URL parser brings every spelling into groups of hexadecimal digits. */
function encodeIPv6(text: string): Buffer {
  const groups = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [head = '', tail = ''] = groups.split('::');
  const [first, last] = [head, tail].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array.from({ length: 8 - first!.length - last!.length }, () => '0');
  const all = [...first!, ...zeros, ...last!].map((group) => group.padStart(4, '0'));
  return Buffer.from(all.join(''), 'hex');
}
