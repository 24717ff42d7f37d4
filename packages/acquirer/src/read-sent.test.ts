import { describe, expect, it } from 'vitest';

import { readSendAnswer, readSentPix } from './read-sent.ts';

const ID_ENVIO = 'a1';
const sent = {
  endToEndId: 'E12345678202611211304abcdef12345',
  idEnvio: ID_ENVIO,
  valor: '567.89',
  chave: 'key',
  status: 'REALIZADO',
  horario: { solicitacao: '2026-11-21T13:04:05.678Z', liquidacao: '2026-11-21T13:04:06Z' },
};
const error = { codigo: 'AC03', origem: 'PSP', motivo: 'Conta inexistente' };

function reasonOf(erro: unknown): string | null | undefined {
  const rejected = { ...sent, status: 'NAO_REALIZADO', gnExtras: { erro } };
  return readSentPix(rejected, ID_ENVIO)?.reason;
}

describe('a sent Pix', () => {
  it('is read with what came back of it', () => {
    const devolucoes = [
      { id: 'r1', rtrId: 'D1', valor: '2.00', status: 'DEVOLVIDO', horario: {}, motivo: 'x' },
      { id: 'r2', valor: '3.00', status: 'EM_PROCESSAMENTO', natureza: 'MED_FRAUDE' },
    ];
    expect(readSentPix({ ...sent, devolucoes }, ID_ENVIO)).toEqual({
      idEnvio: ID_ENVIO,
      endToEndId: sent.endToEndId,
      status: 'settled',
      amountCents: 56_789n,
      reason: null,
      requestedAt: new Date('2026-11-21T13:04:05.678Z'),
      settledAt: new Date('2026-11-21T13:04:06.000Z'),
      returns: [
        {
          id: 'r1',
          returnId: 'D1',
          amountCents: 200n,
          status: 'returned',
          nature: null,
          reason: null,
          settledAt: null,
        },
        {
          id: 'r2',
          returnId: null,
          amountCents: 300n,
          status: 'processing',
          nature: 'MED_FRAUDE',
          reason: null,
          settledAt: null,
        },
      ],
    });
  });

  it('shows a return with an empty rtrId as one without, and none of nothing', () => {
    const done = { valor: '2.00', status: 'DEVOLVIDO' };
    const devolucoes = [
      { id: 'r1', rtrId: '', ...done },
      { id: 'r2', rtrId: 'D2', ...done, valor: '0.00' },
      { id: 'r3', rtrId: 'D3', ...done },
    ];
    const returns = readSentPix({ ...sent, devolucoes }, ID_ENVIO)?.returns;
    expect(returns?.map(({ id, returnId }) => [id, returnId])).toEqual([
      ['r1', null],
      ['r3', 'D3'],
    ]);
  });

  it('that is on its way has settled nothing', () => {
    const processing = { ...sent, status: 'EM_PROCESSAMENTO', gnExtras: { erro: error } };
    expect(readSentPix(processing, ID_ENVIO)).toMatchObject({
      status: 'processing',
      reason: null,
      settledAt: null,
    });
  });

  it.each([
    ['its code and text', error, 'AC03: Conta inexistente'],
    ['its code alone', { codigo: 'AC03' }, 'AC03: AC03'],
    ['its text alone', { motivo: 'Conta inexistente' }, 'Conta inexistente'],
    ['nothing', null, null],
    ['an empty error', {}, null],
  ])('that was rejected says why by %s', (_, erro, reason) => {
    expect(reasonOf(erro)).toBe(reason);
  });

  it('that was rejected never says more than a failure reason holds', () => {
    const long = { codigo: 'C'.repeat(500), motivo: 'm'.repeat(5_000) };
    expect(reasonOf(long)?.length).toBeLessThanOrEqual(255);
    expect(reasonOf({ motivo: 'm'.repeat(5_000) })?.length).toBeLessThanOrEqual(255);
  });

  it('that was rejected has no time of settlement, whatever is written there', () => {
    expect(readSentPix({ ...sent, status: 'NAO_REALIZADO' }, ID_ENVIO)).toMatchObject({
      status: 'rejected',
      settledAt: null,
    });
  });

  it.each([
    ['another idEnvio', { idEnvio: 'a2' }],
    ['no idEnvio', { idEnvio: undefined }],
    ['an unknown status', { status: 'ESTORNADO' }],
    ['an amount in another form', { valor: '567.8' }],
    ['a negative amount', { valor: '-567.89' }],
    ['a date that is none', { horario: { solicitacao: 'yesterday' } }],
    ['a settlement date that is none', { horario: { ...sent.horario, liquidacao: 'soon' } }],
    ['no dates', { horario: null }],
    ['a return without amount', { devolucoes: [{ id: 'r1', status: 'DEVOLVIDO' }] }],
    ['returns that are no list', { devolucoes: {} }],
    ['an error that is no object', { gnExtras: { erro: 'AC03' } }],
    ['an endless end-to-end id', { endToEndId: 'E'.repeat(65) }],
  ])('is unreadable with %s', (_, change) => {
    expect(readSentPix({ ...sent, ...change }, ID_ENVIO)).toBeNull();
  });

  it.each([undefined, null, '', [], 'REALIZADO', 1])('is unreadable as %j', (body) => {
    expect(readSentPix(body, ID_ENVIO)).toBeNull();
    expect(readSendAnswer(body, ID_ENVIO)).toBeNull();
  });
});

describe('the immediate answer to an order', () => {
  const { endToEndId: e2eId, ...rest } = sent;

  it('is read by its own name for the end-to-end id', () => {
    expect(readSendAnswer({ ...rest, e2eId }, ID_ENVIO)).toMatchObject({ endToEndId: e2eId });
    expect(readSendAnswer(sent, ID_ENVIO)).toBeNull();
  });

  it('claims no settlement and no reason of its own', () => {
    const rejected = { ...rest, e2eId, status: 'NAO_REALIZADO', gnExtras: { erro: error } };
    expect(readSendAnswer(rejected, ID_ENVIO)).toMatchObject({
      status: 'rejected',
      reason: null,
      settledAt: null,
    });
  });
});
