import { describe, expect, it } from 'vitest';

import { readCharge, readProblem, readReceivedPix } from './read-answer.ts';

const TXID = '7978c0c97ea847e78e8849634473c1f1';

const charge = {
  calendario: { criacao: '2026-09-09T20:15:00.358Z', expiracao: 3600 },
  txid: TXID,
  revisao: 0,
  loc: { id: 789, location: 'pix.example.com/qr/v2/9d36', tipoCob: 'cob' },
  status: 'ATIVA',
  valor: { original: '567.89' },
  chave: 'a1f4102e-a446-4a57-bcce-6fa48899c1d1',
};

const pix = {
  endToEndId: 'E12345678202009091221abcdef12345',
  valor: '567.89',
  horario: '2026-09-10T10:03:33-03:00',
};

describe('a charge of the acquirer', () => {
  it('is read in domain words, with its location from either place', () => {
    expect(readCharge(charge, TXID)).toEqual({
      txid: TXID,
      status: 'active',
      amountCents: 56_789n,
      location: 'pix.example.com/qr/v2/9d36',
      brCode: null,
      createdAt: new Date('2026-09-09T20:15:00.358Z'),
      expiresInSeconds: 3600,
      pixKey: 'a1f4102e-a446-4a57-bcce-6fa48899c1d1',
      received: [],
    });
    const direct = { ...charge, location: 'pix.example.com/other', pixCopiaECola: 'code' };
    expect(readCharge(direct, TXID)).toMatchObject({
      location: 'pix.example.com/other',
      brCode: 'code',
    });
  });

  it('takes seconds in quotes, as Efí writes them in answers', () => {
    const quoted = { ...charge, calendario: { ...charge.calendario, expiracao: '3600' } };
    expect(readCharge(quoted, TXID)?.expiresInSeconds).toBe(3600);
  });

  it('shows no Pix of nothing, which pays nothing', () => {
    const none = { ...pix, endToEndId: 'E0', valor: '0.00' };
    const paid = { ...charge, status: 'CONCLUIDA', pix: [none, pix] };
    const received = readCharge(paid, TXID)?.received;
    expect(received?.map(({ endToEndId }) => endToEndId)).toEqual([pix.endToEndId]);
  });

  it('gives its own txid to a Pix below it that names none', () => {
    const paid = { ...charge, status: 'CONCLUIDA', pix: [pix] };
    expect(readCharge(paid, TXID)?.received).toEqual([
      {
        endToEndId: pix.endToEndId,
        txid: TXID,
        pixKey: null,
        amountCents: 56_789n,
        paidAt: new Date('2026-09-10T13:03:33Z'),
        returns: [],
        tariffCents: null,
      },
    ]);
  });

  it.each([
    ['an unknown status', { status: 'CONGELADA' }],
    ['an amount in another form', { valor: { original: '567.8' } }],
    ['an amount that is a number', { valor: { original: 567.89 } }],
    ['another txid', { txid: 'x'.repeat(32) }],
    ['a date that is none', { calendario: { criacao: 'yesterday', expiracao: 1 } }],
    ['a Pix without end-to-end id', { pix: [{ ...pix, endToEndId: '' }] }],
    ['a Pix with a negative amount', { pix: [{ ...pix, valor: '-1.00' }] }],
  ])('is unreadable with %s', (_, change) => {
    expect(readCharge({ ...charge, ...change }, TXID)).toBeNull();
  });

  it.each([undefined, null, '', [], 'ATIVA', 1])('is unreadable as %j', (body) => {
    expect(readCharge(body, TXID)).toBeNull();
  });
});

describe('a received Pix', () => {
  it('carries its returns with their nature', () => {
    const returned = {
      ...pix,
      chave: 'key',
      devolucoes: [
        { id: 'a', rtrId: 'D1', valor: '1.00', status: 'DEVOLVIDO', natureza: 'MED_FRAUDE' },
      ],
    };
    expect(readReceivedPix(returned, pix.endToEndId)).toMatchObject({
      pixKey: 'key',
      returns: [
        { id: 'a', returnId: 'D1', amountCents: 100n, status: 'returned', nature: 'MED_FRAUDE' },
      ],
    });
  });

  it.each([
    [{ gnExtras: { tarifa: '0.35' } }, 35n],
    [{ gnExtras: { tarifa: '0.00' } }, 0n],
    [{ gnExtras: { tarifa: null, pagador: { nome: 'Maria' } } }, null],
    [{ gnExtras: {} }, null],
    [{ gnExtras: null }, null],
    [{}, null],
  ])('with %j cost us %s cents', (extras, tariffCents) => {
    expect(readReceivedPix({ ...pix, ...extras }, pix.endToEndId)).toMatchObject({ tariffCents });
  });

  it.each(['0.3', '-0.35', 0.35, '0,35'])('is unreadable with a tariff of %j', (tarifa) => {
    expect(readReceivedPix({ ...pix, gnExtras: { tarifa } }, pix.endToEndId)).toBeNull();
  });

  it('is unreadable when it is another one', () => {
    expect(readReceivedPix(pix, 'E1')).toBeNull();
  });
});

describe('a problem', () => {
  it('is read in the form of API Pix and of Efí', () => {
    const type = 'https://pix.bcb.gov.br/api/v2/error/CobOperacaoInvalida';
    expect(readProblem({ type, title: 'Cobrança inválida.', detail: 'chave' })).toEqual({
      code: 'CobOperacaoInvalida',
      message: 'chave',
    });
    expect(readProblem({ nome: 'valor_invalido', mensagem: 'maior que zero' })).toEqual({
      code: 'valor_invalido',
      message: 'maior que zero',
    });
  });

  it.each([undefined, null, '<html>', {}, { message: 'no' }, []])('is none in %j', (body) => {
    expect(readProblem(body)).toBeNull();
  });
});
