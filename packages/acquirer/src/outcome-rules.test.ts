import { describe, expect, it } from 'vitest';

import { decideOutcome, OPERATIONS, OUTCOME_RULES } from './outcome-rules.ts';

const rows = OUTCOME_RULES.flatMap(({ operations, statuses, codes, verdict }) =>
  operations.flatMap((operation) =>
    statuses.flatMap((status) =>
      namesIn(codes).map((code) => ({ operation, status, code, verdict })),
    ),
  ),
);

/** Names that a rule fits; any other name is stood for by one that nobody knows. */
function namesIn(codes: (typeof OUTCOME_RULES)[number]['codes']): readonly (string | null)[] {
  if (codes === undefined) return [null];
  return 'anyBut' in codes ? ['something_new'] : codes;
}

const allCodes = OUTCOME_RULES.flatMap((rule) => namesIn(rule.codes));

describe('the table of outcomes', () => {
  it.each(rows)('$operation $status $code proves $verdict', (row) => {
    expect(decideOutcome(row.operation, row.status, row.code)).toBe(row.verdict);
  });

  it.each([
    ['issueCharge', 400, 'valor_invalido'],
    ['issueCharge', 400, 'chave_invalida'],
    ['issueCharge', 400, 'documento_bloqueado'],
    ['issueCharge', 400, 'CobOperacaoInvalida'],
    ['issueCharge', 400, 'RequisicaoInvalida'],
    ['issueCharge', 422, 'AB03'],
    ['issueCharge', 400, 'a_code_of_next_year'],
    ['cancelCharge', 400, 'status_cobranca_invalido'],
    ['sendPayout', 400, 'chave_nao_pertence_ao_documento'],
    ['sendPayout', 400, 'valor_invalido'],
    ['sendPayout', 400, 'chave_invalida'],
    ['sendPayout', 404, 'chave_favorecido_nao_encontrada'],
    ['sendPayout', 422, 'pagamento_negado'],
    ['sendPayout', 422, 'AC03'],
    ['refund', 400, 'PixDevolucaoInvalida'],
    ['refund', 400, 'RequisicaoInvalida'],
    ['refund', 400, 'valor_invalido'],
    ['refund', 400, 'pix_nao_encontrado'],
    ['refund', 404, 'PixNaoEncontrado'],
    ['submitDefense', 400, 'InfracoesConsultaInvalida'],
    ['submitDefense', 422, 'InfracaoOperacaoInvalida'],
  ] as const)('%s %i %s is a refusal', (operation, status, code) => {
    expect(decideOutcome(operation, status, code)).toBe('refused');
  });

  it.each([301, 302, 307, 308, 401, 402, 403, 405, 406, 408, 409, 410, 413, 418, 421, 425, 429])(
    '%i is never a refusal, whatever code stands in it',
    (status) => {
      for (const operation of OPERATIONS) {
        for (const code of [null, ...allCodes]) {
          expect(decideOutcome(operation, status, code)).toBe('unknown');
        }
      }
    },
  );

  it.each([500, 501, 502, 503, 504, 520])('%i proves nothing', (status) => {
    for (const operation of OPERATIONS) {
      expect(decideOutcome(operation, status, 'valor_invalido')).toBe('unknown');
    }
  });

  it.each(['txid_duplicado', 'erro_aplicacao', 'AcessoNegado', 'ServicoIndisponivel', '', null])(
    'a 400 with code %j proves nothing about an issuing',
    (code) => {
      expect(decideOutcome('issueCharge', 400, code)).toBe('unknown');
    },
  );

  it('a 404 without the name of the missing thing is not "not found"', () => {
    expect(decideOutcome('getCharge', 404, null)).toBe('unknown');
    expect(decideOutcome('getCharge', 404, 'PixNaoEncontrado')).toBe('unknown');
    expect(decideOutcome('getReceived', 404, 'CobNaoEncontrado')).toBe('unknown');
  });

  it('a refusal of a send is one that has a name here, never one by its form alone', () => {
    for (const status of [400, 422]) {
      for (const code of ['a_code_of_next_year', 'id_envio_duplicado', 'DUPL', 'erro_aplicacao']) {
        expect(decideOutcome('sendPayout', status, code)).toBe('unknown');
      }
      expect(decideOutcome('sendPayout', status, '')).toBe('unknown');
      expect(decideOutcome('sendPayout', status, null)).toBe('unknown');
    }
  });

  it('has a row for what each operation does', () => {
    const done = OUTCOME_RULES.filter(({ verdict }) => verdict === 'done');
    expect(done.flatMap(({ operations }) => operations).toSorted()).toEqual(OPERATIONS.toSorted());
  });

  it('a refusal of a return is one that has a name here, never one by its form alone', () => {
    const strangers = [
      'devolucao_id_duplicado',
      'erro_aplicacao',
      'AcessoNegado',
      'saldo_de_amanha',
    ];
    for (const status of [400, 404, 422]) {
      for (const code of [...strangers, 'CobOperacaoInvalida', 'pagamento_negado', '', null]) {
        expect(decideOutcome('refund', status, code)).toBe('unknown');
      }
    }
  });

  it('a 404 says nothing about a return but that its Pix is unknown', () => {
    const refused = allCodes.filter((code) => decideOutcome('refund', 404, code) !== 'unknown');
    expect(new Set(refused)).toEqual(new Set(['PixNaoEncontrado']));
  });

  it('"not found" is said of a return by its own names alone, not by those of the Pix', () => {
    const missing = allCodes.filter((code) => decideOutcome('getRefund', 404, code) !== 'unknown');
    expect(new Set(missing)).toEqual(
      new Set(['PixDevolucaoNaoEncontrada', 'devolucao_nao_encontrada']),
    );
    for (const code of ['PixNaoEncontrado', 'pix_nao_encontrado', 'NaoEncontrado']) {
      expect(decideOutcome('getRefund', 400, code)).toBe('unknown');
    }
  });

  it('a 404 says nothing about a send but that its recipient is unknown', () => {
    const refused = allCodes.filter((code) => decideOutcome('sendPayout', 404, code) !== 'unknown');
    expect(new Set(refused)).toEqual(new Set(['chave_favorecido_nao_encontrada']));
  });

  it('no answer to a list or to the balance is a refusal or "not found"', () => {
    for (const operation of ['listSent', 'listReceived', 'listDisputes', 'balance'] as const) {
      for (const status of [400, 404, 422]) {
        for (const code of [null, ...allCodes]) {
          expect(decideOutcome(operation, status, code)).toBe('unknown');
        }
      }
    }
  });

  it('"not found" is said of a payout by the names of a sent Pix alone', () => {
    const missing = allCodes.filter(
      (code) => decideOutcome('getPayout', 404, code) === 'not_found',
    );
    expect(new Set(missing)).toEqual(
      new Set(['PixEnviadoNaoEncontrado', 'pix_enviado_nao_encontrado', 'pix_nao_encontrado']),
    );
    expect(decideOutcome('getPayout', 404, 'NaoEncontrado')).toBe('unknown');
  });
});
