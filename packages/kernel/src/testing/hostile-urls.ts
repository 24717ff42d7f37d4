import * as fc from 'fast-check';

/**
 * Hosts in every spelling an attacker would try, in frames of which half are beyond reproach. Half of these name
 * the port, where a test has a listener that nobody should reach.
 */
export function aHostileUrl(port = 8_080): fc.Arbitrary<string> {
  const scheme = fc.constantFrom('HTTP://', 'http:', 'http:///', 'http:\\\\', 'ftp://', '');
  const userinfo = fc.constantFrom('', 'user@', 'a:b@', '@');
  const anyPort = fc.constantFrom('', ':80', ':0', ':65535', ':65536', ':', `:${port}`);
  const rest = fc.constantFrom('', '/hook?x=1#y', '/@10.0.0.1', '?@10.0.0.1', '\\', '/a b', '#');
  const hostile = fc.tuple(scheme, userinfo, aHost(), anyPort, rest);
  const sound = fc.tuple(
    fc.constantFrom('http://', 'https://'),
    aHost(),
    fc.constantFrom('/hook', `:${port}/hook`),
  );
  return fc.oneof(hostile, sound).map((parts) => parts.join(''));
}

function aHost(): fc.Arbitrary<string> {
  const number = fc.oneof(aPrivateNumber(), fc.nat({ max: 0xffffffff }));
  const name = fc.constantFrom(
    'localhost',
    'a.localhost',
    'printer.local',
    'db.internal',
    'x.home.arpa',
  );
  const finalDot = fc.constantFrom('', '', '.', '..');
  return fc.oneof(
    fc.tuple(number, fc.constantFrom(...SPELLINGS)).map(([value, spell]) => spell(value)),
    fc.tuple(fc.oneof(name, fc.domain()), finalDot).map((parts) => parts.join('')),
    fc.tuple(name, finalDot).map(([text, dot]) => `${text.toUpperCase()}${dot}`),
    fc.ipV6().map((address) => `[${address}]`),
    fc.string({ maxLength: 20 }),
  );
}

function aPrivateNumber(): fc.Arbitrary<number> {
  const base = fc.constantFrom(0, 0x0a000000, 0x7f000000, 0xa9fe0000, 0xac100000, 0xc0a80000);
  return fc.tuple(base, fc.nat({ max: 0xffff })).map(([high, low]) => high + low);
}

const SPELLINGS: readonly ((value: number) => string)[] = [
  (value) => quad(value).join('.'),
  (value) => `${quad(value).join('.')}.`,
  (value) => String(value),
  (value) => `0x${value.toString(16)}`,
  (value) => `0${value.toString(8)}`,
  (value) =>
    quad(value)
      .map((part) => `0${part.toString(8)}`)
      .join('.'),
  (value) =>
    quad(value)
      .map((part) => `0X${part.toString(16)}`)
      .join('.'),
  (value) => quad(value).join('。'),
  (value) =>
    quad(value)
      .join('.')
      .replace(/[0-9]/g, (digit) => `%3${digit}`),
  (value) =>
    quad(value)
      .join('.')
      .replace(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  (value) => `[::ffff:${quad(value).join('.')}]`,
  (value) => `[::${quad(value).join('.')}]`,
  (value) => `[64:ff9b::${quad(value).join('.')}]`,
  (value) => `[2002:${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}::1]`,
];

function quad(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff];
}
