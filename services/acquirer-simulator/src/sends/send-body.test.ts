import { describe, expect, it } from 'vitest';

import { toRecipient } from './recipient.ts';
import { IdEnvioParams, SendBody } from './send-body.ts';

const body = {
  valor: '12.34',
  pagador: { chave: 'key' },
  favorecido: { chave: 'maria@example.com' },
};

describe('the body of an order', () => {
  it('is read in cents, and what it does not know is left out', () => {
    expect(SendBody.parse({ ...body, extra: 1 })).toEqual({ ...body, valor: 1_234n });
  });

  it.each([
    ['no amount', { valor: undefined }],
    ['an amount that is a number', { valor: 12.34 }],
    ['an amount with a comma', { valor: '12,34' }],
    ['a negative amount', { valor: '-1.00' }],
    ['eleven digits', { valor: '10000000000.00' }],
    ['no payer', { pagador: undefined }],
    ['a text that is too long', { pagador: { chave: 'key', infoPagador: 'x'.repeat(141) } }],
    ['a key that is too long', { favorecido: { chave: 'x'.repeat(78) } }],
    ['bank details', { favorecido: { contaBanco: {} } }],
    ['a masked CPF', { favorecido: { chave: 'x', cpf: '529.982.247-25' } }],
    ['a CNPJ in lower case', { favorecido: { chave: 'x', cnpj: '12abc34501de35' } }],
  ])('is refused with %s', (_, change) => {
    expect(SendBody.safeParse({ ...body, ...change }).success).toBe(false);
  });
});

describe('an idEnvio', () => {
  it.each(['a', '0', 'A1', 'x'.repeat(35)])('may be %s', (idEnvio) => {
    expect(IdEnvioParams.safeParse({ idEnvio }).success).toBe(true);
  });

  it.each(['', 'x'.repeat(36), 'a-b', 'a b', 'á', 'a\n'])('is not %j', (idEnvio) => {
    expect(IdEnvioParams.safeParse({ idEnvio }).success).toBe(false);
  });
});

describe('the recipient of an answer', () => {
  it('has a masked CPF, its own CNPJ, or nobody at all', () => {
    expect(toRecipient({ chave: 'x', cpf: '52998224725' })).toMatchObject({
      chave: 'x',
      identificacao: { cpf: '***.982.247-**' },
    });
    expect(toRecipient({ chave: 'x', cnpj: '12ABC34501DE35' })).toMatchObject({
      identificacao: { cnpj: '12ABC34501DE35' },
    });
    expect(toRecipient({ chave: 'x' })).toMatchObject({
      identificacao: { nome: 'FAVORECIDO SIMULADO', cpf: '***.456.789-**' },
    });
  });
});
