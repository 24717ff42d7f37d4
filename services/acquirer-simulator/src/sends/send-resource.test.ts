import { describe, expect, it } from 'vitest';

import { type StoredSend, toSendAnswer, toSendNotice, toSendResource } from './send-resource.ts';

const send: StoredSend = {
  endToEndId: 'E1',
  idEnvio: 'a1',
  status: 'REALIZADO',
  amountCents: 1_234n,
  pixKey: 'key',
  payerText: 'Repasse',
  recipient: { chave: 'maria@example.com' },
  requestedAt: new Date('2026-11-21T13:04:05.678Z'),
  settledAt: new Date('2026-11-21T13:04:06.000Z'),
  error: null,
  returns: [],
};
const error = { codigo: 'AC03', origem: 'PSP', motivo: 'x' };
const item = {
  returnId: 'D1',
  id: 'r1',
  amountCents: 200n,
  nature: 'MED_FRAUDE',
  returnedAt: new Date('2026-11-21T13:05:00.000Z'),
};

describe('a sent Pix', () => {
  it('is shown as the provider documents it', () => {
    expect(toSendResource(send)).toEqual({
      endToEndId: 'E1',
      idEnvio: 'a1',
      valor: '12.34',
      chave: 'key',
      status: 'REALIZADO',
      infoPagador: 'Repasse',
      horario: {
        solicitacao: '2026-11-21T13:04:05.678Z',
        liquidacao: '2026-11-21T13:04:06.000Z',
      },
      favorecido: { chave: 'maria@example.com' },
    });
  });

  it('shows why it was rejected, and not why it will be', () => {
    const planned = { ...send, status: 'EM_PROCESSAMENTO' as const, settledAt: null, error };
    expect(toSendResource(planned)).not.toHaveProperty('gnExtras');
    expect(toSendNotice(planned)).toMatchObject({ gnExtras: { idEnvio: 'a1' } });
    const rejected = { ...planned, status: 'NAO_REALIZADO' as const };
    expect(toSendResource(rejected)).toMatchObject({ gnExtras: { erro: error } });
    expect(toSendNotice(rejected)).toMatchObject({
      horario: null,
      gnExtras: { idEnvio: 'a1', erro: error },
    });
  });

  it('shows what came back, and its nature to those who look only', () => {
    const returned = { ...send, returns: [item] };
    const shown = {
      id: 'r1',
      rtrId: 'D1',
      valor: '2.00',
      status: 'DEVOLVIDO',
      motivo: expect.any(String),
      horario: { solicitacao: '2026-11-21T13:05:00.000Z', liquidacao: expect.any(String) },
    };
    expect(toSendResource(returned)).toMatchObject({
      devolucoes: [{ ...shown, natureza: 'MED_FRAUDE' }],
    });
    expect(toSendNotice(returned)).toMatchObject({ devolucoes: [shown] });
    expect(JSON.stringify(toSendNotice(returned))).not.toContain('natureza');
  });

  it('without an idEnvio or a text shows none', () => {
    const foreign = { ...send, idEnvio: null, payerText: null };
    expect(toSendResource(foreign)).not.toHaveProperty('idEnvio');
    expect(toSendResource(foreign)).not.toHaveProperty('infoPagador');
    expect(toSendNotice(foreign)).toMatchObject({ tipo: 'SOLICITACAO', gnExtras: {} });
  });

  it('is on its way in the immediate answer', () => {
    expect(toSendAnswer({ ...send, idEnvio: 'a1' })).toEqual({
      idEnvio: 'a1',
      e2eId: 'E1',
      valor: '12.34',
      horario: { solicitacao: '2026-11-21T13:04:05.678Z' },
      status: 'EM_PROCESSAMENTO',
    });
  });
});
