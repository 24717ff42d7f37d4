import { expect, test } from 'vitest';

import { REDACTED, redactMessage } from './redact.ts';

const SECRET = '52998224725';

test.each([
  ['customer', 'email', 'document', 'name', 'description', 'reference', 'br_code'],
  ['webhook_url', 'failure_reason', 'message', 'pix_key', 'branch', 'account', 'recipient'],
  ['cpf', 'cnpj', 'nome', 'chave', 'pagador', 'nomePagador', 'devedor', 'favorecido', 'recebedor'],
  ['agencia', 'conta', 'contaBanco', 'motivo', 'infoPagador', 'infoAdicionais', 'pixCopiaECola'],
])('people, accounts and texts of a message are not shown: %s', (...names) => {
  for (const name of names) {
    const written = [name, name.toUpperCase(), name[0]?.toUpperCase() + name.slice(1)];
    for (const one of written) {
      expect(redactMessage({ data: [{ [one]: SECRET }] })).toEqual({ data: [{ [one]: REDACTED }] });
    }
  }
});

test('ids, amounts, statuses and times of a message are shown', () => {
  const shown = {
    event_id: 'e',
    account_id: 'a',
    application_id: 'b',
    command_id: 'c',
    type: 'charge.pix.failed',
    sequence: 3,
    occurred_at: '2026-09-09T20:15:00.358Z',
    data: {
      id: 'i',
      object: 'charge',
      status: 'failed',
      amount: 500,
      fee: 10,
      currency: 'BRL',
      end_to_end_id: 'E1',
      reason: 'late',
      refunded_amount: 0,
      pix_key_type: 'cpf',
      account_type: 'checking',
      balance: { available: '1', pending: '0' },
      item: { endToEndId: 'E1', txid: 't', valor: '5.00', horario: '2026-09-09T20:15:00Z' },
    },
  };
  expect(redactMessage(shown)).toEqual(shown);
});

test('what is not there is shown as such', () => {
  expect(redactMessage({ customer: null, failure_reason: null })).toEqual({
    customer: null,
    failure_reason: null,
  });
});
