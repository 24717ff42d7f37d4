import { describe, expect, test } from 'vitest';

import { classifyItem, keyOfItem, looksLikeItem } from './classify-item.ts';

const E2E = 'E12345678202611211200abcdefghijk';
const TXID = '0b9f2c1e8a574f0e9a356d2f9c4b7a10';
const ID_ENVIO = '1c9f2c1e8a574f0e9a356d2f9c4b7a11';
const CALLBACK_ID = '019a0000-0000-7000-8000-000000000001';
const RETURNS = [{ id: 'd1', rtrId: 'D1', valor: '1.00', status: 'DEVOLVIDO' }];

describe('an item of a callback', () => {
  test.each([
    { item: { endToEndId: E2E, txid: TXID, valor: '1.00' }, kind: 'received', key: TXID },
    { item: { endToEndId: E2E, valor: '1.00' }, kind: 'received', key: E2E },
    { item: { endToEndId: E2E, devolucoes: [] }, kind: 'received', key: E2E },
    { item: { endToEndId: E2E, devolucoes: null }, kind: 'received', key: E2E },
    { item: { endToEndId: E2E, gnExtras: { tarifa: '0.10' } }, kind: 'received', key: E2E },
    { item: { endToEndId: E2E, gnExtras: null }, kind: 'received', key: E2E },
    { item: { endToEndId: E2E, tipo: '' }, kind: 'received', key: E2E },
    {
      item: { endToEndId: E2E, txid: TXID, devolucoes: RETURNS },
      kind: 'received_return',
      key: TXID,
    },
    { item: { endToEndId: E2E, devolucoes: RETURNS }, kind: 'received_return', key: E2E },
    {
      item: { endToEndId: E2E, tipo: 'SOLICITACAO', gnExtras: { idEnvio: ID_ENVIO } },
      kind: 'sent',
      key: ID_ENVIO,
    },
    { item: { endToEndId: E2E, gnExtras: { idEnvio: ID_ENVIO } }, kind: 'sent', key: ID_ENVIO },
    { item: { endToEndId: E2E, tipo: 'SOLICITACAO' }, kind: 'sent', key: E2E },
    {
      item: { endToEndId: E2E, gnExtras: { idEnvio: ID_ENVIO }, devolucoes: RETURNS },
      kind: 'sent_return',
      key: ID_ENVIO,
    },
    { item: { endToEndId: E2E, tipo: 'X', devolucoes: RETURNS }, kind: 'sent_return', key: E2E },
    {
      item: { endToEndId: E2E, gnExtras: { idEnvio: 'ção' }, devolucoes: RETURNS },
      kind: 'sent_return',
      key: E2E,
    },
    { item: { gnExtras: { idEnvio: ID_ENVIO } }, kind: 'sent', key: ID_ENVIO },
    {
      item: { endToEndId: E2E, txid: TXID, gnExtras: { idEnvio: ID_ENVIO } },
      kind: 'sent',
      key: ID_ENVIO,
    },
    { item: { endToEndId: E2E, tipo: 'SOLICITACAO', txid: TXID }, kind: 'sent', key: E2E },
    { item: { txid: TXID }, kind: 'unknown', key: TXID },
    { item: { endToEndId: 7 }, kind: 'unknown', key: CALLBACK_ID },
    { item: {}, kind: 'unknown', key: CALLBACK_ID },
  ])('$item is $kind under its own id', ({ item, kind, key }) => {
    expect(classifyItem(item)).toBe(kind);
    expect(keyOfItem(item, classifyItem(item), CALLBACK_ID)).toBe(key);
  });

  test('of a send is the payout’s, whatever the acquirer says about it', () => {
    const item = {
      endToEndId: E2E,
      chave: 'a0000000-0000-4000-8000-000000000001',
      tipo: 'SOLICITACAO',
      status: 'NAO_REALIZADO',
      valor: '10.00',
      horario: { solicitacao: '2026-11-21T12:00:00.000Z' },
      gnExtras: {
        idEnvio: ID_ENVIO,
        erro: { codigo: 'AB03', origem: 'DICT', motivo: 'Liquidação interrompida' },
      },
    };
    expect(classifyItem(item)).toBe('sent');
    expect(keyOfItem(item, 'sent', CALLBACK_ID)).toBe(ID_ENVIO);
    const returned = { ...item, status: 'REALIZADO', devolucoes: RETURNS };
    expect(classifyItem(returned)).toBe('sent_return');
    expect(keyOfItem(returned, 'sent_return', CALLBACK_ID)).toBe(ID_ENVIO);
  });

  test.each(['', 'a'.repeat(65), 'nul\0', 'two words', '\ud800', 'ção', 7, null, {}])(
    'an id that no acquirer writes is no key: %j',
    (txid) => {
      expect(keyOfItem({ txid, endToEndId: E2E }, 'received', CALLBACK_ID)).toBe(E2E);
      expect(keyOfItem({ txid }, 'unknown', CALLBACK_ID)).toBe(CALLBACK_ID);
    },
  );

  test.each([
    { body: { endToEndId: E2E }, expected: true },
    { body: { gnExtras: { idEnvio: ID_ENVIO } }, expected: true },
    { body: { txid: TXID }, expected: true },
    { body: { evento: 'teste_webhook' }, expected: false },
    { body: {}, expected: false },
  ])('a body by itself may be one: $body is $expected', ({ body, expected }) => {
    expect(looksLikeItem(body)).toBe(expected);
  });
});
