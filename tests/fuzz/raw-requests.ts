import fc from 'fast-check';

/** Lines that others have hidden second requests and second meanings in. */
const TRICKY_LINES = [
  'Host: other.example',
  'Content-Length: 0',
  'Content-Length: -1',
  'Content-Length: 18446744073709551616',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: \x0bchunked',
  'Expect: 100-continue',
  'Expect: something-else',
  'Connection: Upgrade\r\nUpgrade: websocket',
  'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
  'Content-Encoding: gzip',
  'Content-Type: multipart/form-data',
  'Content-Type: ',
  'X-HTTP-Method-Override: DELETE',
  'x-api-key: ',
  'Idempotency-Key: \x80\xff',
  ' folded: line',
  'no colon',
  ': no name',
  'Range: bytes=0-1',
  'If-None-Match: *',
  `X-Long: ${'x'.repeat(9_000)}`,
];

const TRICKY_TEXTS = [
  '\0',
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '%',
  '%00',
  '%2e%2e/',
  '//',
  '\\',
  '?',
  '#',
  ' ',
  '\t',
  '[[[[[[[[[[[[[[[[[[[[',
  '{"__proto__":',
  '\ud800',
  '1e999',
  '9007199254740993',
  '-0',
  'HTTP/0.9',
  'HTTP/2.0',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  '0\r\n\r\n',
];

type Mutation = (bytes: Buffer) => Buffer;

const PLACES = 10_000;

/** A place in a text, as a share of its length: it holds whatever the length is by then. */
const place = fc
  .noBias(fc.nat(PLACES - 1))
  // Edge cases of numbers would all break the first byte.
  .map((step) => step / PLACES);

function at(bytes: Buffer, share: number): number {
  return Math.floor(share * bytes.length);
}

function replace(bytes: Buffer, [from, to]: readonly [number, number], by: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, from), by, bytes.subarray(to)]);
}

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(place, fc.nat(255)).map(
    ([share, value]): Mutation =>
      (bytes) =>
        replace(bytes, [at(bytes, share), at(bytes, share) + 1], Uint8Array.of(value)),
  ),
  fc.tuple(place, fc.uint8Array({ minLength: 1, maxLength: 40 })).map(
    ([share, garbage]): Mutation =>
      (bytes) =>
        replace(bytes, [at(bytes, share), at(bytes, share)], garbage),
  ),
  fc.tuple(place, fc.constantFrom(...TRICKY_TEXTS)).map(
    ([share, text]): Mutation =>
      (bytes) =>
        replace(bytes, [at(bytes, share), at(bytes, share)], Buffer.from(text)),
  ),
  fc.tuple(place, fc.nat(60)).map(
    ([share, length]): Mutation =>
      (bytes) =>
        replace(bytes, [at(bytes, share), at(bytes, share) + length], Buffer.alloc(0)),
  ),
  fc.tuple(place, fc.nat(200)).map(([share, length]): Mutation => (bytes) => {
    const from = at(bytes, share);
    return replace(bytes, [from, from], bytes.subarray(from, from + length));
  }),
  place.map(
    (share): Mutation =>
      (bytes) =>
        bytes.subarray(0, at(bytes, share)),
  ),
  fc.constantFrom(...TRICKY_LINES).map((line): Mutation => (bytes) => {
    const end = bytes.indexOf('\r\n') + 2;
    return replace(bytes, [end, end], Buffer.from(`${line}\r\n`, 'latin1'));
  }),
);

const MUTATIONS_MAX = 3;

/** One of these requests with one to three faults in it, anywhere. */
export function brokenRequests(requests: readonly string[]): fc.Arbitrary<Buffer> {
  return fc
    .tuple(
      fc.constantFrom(...requests),
      fc.array(mutation, { minLength: 1, maxLength: MUTATIONS_MAX }),
    )
    .map(([request, mutations]) =>
      mutations.reduce<Buffer>((bytes, mutate) => mutate(bytes), Buffer.from(request)),
    );
}
