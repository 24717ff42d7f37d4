import { describe, expect, it } from 'vitest';

import { crc16, writeElement } from './br-code-elements.ts';
import { GUI } from './br-code-rules.ts';
import { buildDynamicBrCode } from './br-code-writer.ts';
import { leadsElsewhere } from './foreign-code.ts';
import { readCharge } from './read-answer.ts';

const TXID = '7978c0c97ea847e78e8849634473c1f1';
const LOCATION = 'pix.example.com/qr/v2/9d-36';
const RECURRENCE = 'pix.example.com/rec/1';
const OTHER = 'pix.example.com/qr/v2/9d-37';

const charge = {
  calendario: { criacao: '2026-09-09T20:15:00.358Z', expiracao: 3600 },
  txid: TXID,
  loc: { location: LOCATION },
  status: 'ATIVA',
  valor: { original: '567.89' },
  chave: 'a1f4102e-a446-4a57-bcce-6fa48899c1d1',
};

const pix = {
  endToEndId: 'E12345678202009091221abcdef12345',
  valor: '567.89',
  horario: '2026-09-10T10:03:33-03:00',
};

const STATIC_CODE =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR' +
  '5913Fulano de Tal6008BRASILIA62070503***63041D3D';

/** A dynamic code; `change` has its elements without the CRC. */
function codeOf(location: string, change: (body: string) => string = (body) => body): string {
  const code = buildDynamicBrCode({ location, merchantName: 'LOJA', merchantCity: 'RIO' }) ?? '';
  const body = `${change(code.slice(0, -8))}6304`;
  return body + crc16(body);
}

/** A code of the right location, with more templates of Pix at its end: id, element, value. */
function codeWith(...templates: readonly [string, string, string][]): string {
  const added = templates.map(([id, element, value]) =>
    writeElement(id, writeElement('00', GUI) + writeElement(element, value)),
  );
  return codeOf(LOCATION, (body) => body + added.join(''));
}

function isForeign(change: object): boolean | undefined {
  const read = readCharge({ ...charge, ...change }, TXID);
  return read === null ? undefined : leadsElsewhere(read);
}

describe('the BR Code of a charge', () => {
  const OF_OTHER = { pixCopiaECola: codeOf(OTHER) };

  it.each([
    ['of its location', { pixCopiaECola: codeOf(LOCATION) }],
    ['of both its locations', { pixCopiaECola: codeOf(LOCATION), location: LOCATION }],
    ['of the first of two locations', { ...OF_OTHER, location: OTHER }],
    ['of the second of two locations', { pixCopiaECola: codeOf(LOCATION), location: OTHER }],
    ['of a host in capitals', { pixCopiaECola: codeOf(LOCATION.replace('pix.e', 'PIX.E')) }],
    ['of a location with scheme', { ...OF_OTHER, location: `https://${OTHER}` }],
    ['of a location with the plain scheme', { ...OF_OTHER, location: `http://${OTHER}` }],
    ['of a location without the last slash', { pixCopiaECola: codeOf(`${LOCATION}/`) }],
    ['of a location with one more slash', { ...OF_OTHER, location: `${OTHER}/` }],
    ['of a location between spaces', { ...OF_OTHER, location: ` ${OTHER} ` }],
    ['of a location with an escape', { ...OF_OTHER, location: OTHER.replace('-', '%2d') }],
    ['with an escape', { pixCopiaECola: codeOf(LOCATION.replace('-', '%2D')) }],
    [
      'of a location with a broken escape',
      { pixCopiaECola: codeOf(`${OTHER}%E9%zz`), location: `${OTHER}%e9%zz` },
    ],
    ['beside an empty location', { pixCopiaECola: codeOf(LOCATION), location: '' }],
    ['beside a blank location', { pixCopiaECola: codeOf(LOCATION), location: ' ' }],
    ['without a location', { ...OF_OTHER, loc: null }],
    ['with empty locations alone', { ...OF_OTHER, loc: { location: '' }, location: '' }],
    [
      'with a template of somebody else',
      { pixCopiaECola: codeOf(LOCATION, (b) => `${b}27040000`) },
    ],
    ['that is none', { pixCopiaECola: 'code' }],
    ['with a broken CRC', { pixCopiaECola: codeOf(OTHER).replace('LOJA', 'LOJB') }],
  ])('%s is read as it stands', (_, change) => {
    const { pixCopiaECola: brCode } = change;
    expect(readCharge({ ...charge, ...change }, TXID)).toMatchObject({ brCode });
    expect(isForeign(change)).toBe(false);
  });

  it.each([
    ['of another location', OF_OTHER],
    ['of another path in capitals', { pixCopiaECola: codeOf(LOCATION.toUpperCase()) }],
    ['of neither of two locations', { ...OF_OTHER, location: `${LOCATION}/a` }],
    ['whose escape is another path', { pixCopiaECola: codeOf(LOCATION.replace('/9d', '%2F9d')) }],
    ['that is static', { pixCopiaECola: STATIC_CODE }],
    ['that is static, without a location', { pixCopiaECola: STATIC_CODE, loc: null }],
    [
      'that may be paid again',
      { pixCopiaECola: codeOf(LOCATION, (body) => body.replace('010212', '010211')) },
    ],
    ['with a second account, of a key', { pixCopiaECola: codeWith(['27', '01', 'a@example.com']) }],
    ['with a second account, of a URL', { pixCopiaECola: codeWith(['51', '25', LOCATION]) }],
    ['with a recurrence', { pixCopiaECola: codeWith(['80', '25', RECURRENCE]) }],
    [
      'with a recurrence behind another template',
      { pixCopiaECola: codeWith(['80', '03', 'x'], ['81', '25', RECURRENCE]) },
    ],
  ])('%s pays something else', (_, change) => {
    expect(isForeign(change)).toBe(true);
  });

  it('decides which of two locations is taken over', () => {
    const both = { ...charge, location: OTHER, pixCopiaECola: codeOf(LOCATION) };
    expect(readCharge(both, TXID)?.location).toBe(LOCATION);
  });

  it.each(['ATIVA', 'CONCLUIDA', 'REMOVIDA_PELO_PSP', 'REMOVIDA_PELO_USUARIO_RECEBEDOR'])(
    'hides nothing that a charge has received, once it is %s',
    (status) => {
      expect(isForeign({ status, pixCopiaECola: STATIC_CODE, pix: [pix] })).toBe(false);
    },
  );
});
