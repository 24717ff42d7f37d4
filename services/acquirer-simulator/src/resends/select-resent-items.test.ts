import { describe, expect, it } from 'vitest';

import type { StoredPix } from '#pix/pix-resource.ts';
import type { StoredSend } from '#sends/send-resource.ts';

import { selectResentItems } from './select-resent-items.ts';

const NOW = new Date('2026-03-31T12:00:00Z');
const DAY_MS = 86_400_000;

function daysAgo(days: number): Date {
  return new Date(NOW.getTime() - days * DAY_MS);
}

const aReturn = {
  returnId: 'D1',
  id: 'r1',
  status: 'DEVOLVIDO' as const,
  amountCents: 100n,
  nature: 'ORIGINAL',
  description: null,
  reason: null,
  requestedAt: NOW,
  settledAt: NOW,
};
const pix: StoredPix = {
  endToEndId: 'E1',
  txid: null,
  pixKey: 'key',
  amountCents: 500n,
  paidAt: NOW,
  tariffCents: null,
  returns: [aReturn],
};
const send: StoredSend = {
  endToEndId: 'E2',
  idEnvio: 'order',
  status: 'REALIZADO',
  amountCents: 500n,
  pixKey: 'key',
  payerText: null,
  recipient: {},
  requestedAt: NOW,
  settledAt: NOW,
  error: null,
  returns: [{ returnId: 'D2', id: 'r2', amountCents: 1n, nature: 'ORIGINAL', returnedAt: NOW }],
};
const both = { received: [pix], sent: [send] };

describe('callbacks that are sent again', () => {
  it('say what was said when the money moved, or when it came or went back', () => {
    const [received] = selectResentItems('PIX_RECEBIDO', both, NOW);
    expect(received).toMatchObject({ endToEndId: 'E1', valor: '5.00' });
    expect(received).not.toHaveProperty('devolucoes');
    const [sent] = selectResentItems('PIX_ENVIADO', both, NOW);
    expect(sent).toMatchObject({ endToEndId: 'E2', tipo: 'SOLICITACAO' });
    expect(sent).not.toHaveProperty('devolucoes');
    expect(selectResentItems('DEVOLUCAO_ENVIADA', both, NOW)).toMatchObject([
      { endToEndId: 'E1', devolucoes: [{ rtrId: 'D1' }] },
    ]);
    expect(selectResentItems('DEVOLUCAO_RECEBIDA', both, NOW)).toMatchObject([
      { endToEndId: 'E2', devolucoes: [{ rtrId: 'D2' }] },
    ]);
  });

  it('leave out what has never been announced', () => {
    const unreturned = {
      received: [{ ...pix, returns: [{ ...aReturn, status: 'EM_PROCESSAMENTO' as const }] }],
      sent: [{ ...send, status: 'EM_PROCESSAMENTO' as const, returns: [] }],
    };
    expect(selectResentItems('DEVOLUCAO_ENVIADA', unreturned, NOW)).toEqual([]);
    expect(selectResentItems('PIX_ENVIADO', unreturned, NOW)).toEqual([]);
    expect(selectResentItems('DEVOLUCAO_RECEBIDA', unreturned, NOW)).toEqual([]);
  });

  it('reach back thirty days', () => {
    const old = {
      received: [
        { ...pix, paidAt: daysAgo(30) },
        { ...pix, paidAt: daysAgo(30.01) },
      ],
      sent: [
        { ...send, requestedAt: daysAgo(30) },
        { ...send, requestedAt: daysAgo(30.01) },
      ],
    };
    expect(selectResentItems('PIX_RECEBIDO', old, NOW)).toHaveLength(1);
    expect(selectResentItems('PIX_ENVIADO', old, NOW)).toHaveLength(1);
  });
});
