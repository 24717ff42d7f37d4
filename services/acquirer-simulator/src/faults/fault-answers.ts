import { apiPixError, efiError, type ProviderError } from '#api-pix/provider-error.ts';

import type { CallRule, FaultyOperation } from './fault-script.ts';

/** What stands between a client and a provider on a bad day. */
export const GARBAGE = '<html><head><title>502 Bad Gateway</title></head><body></body></html>';

type Refusal = { status: number; code: string; message: string };

const INVALID_VALUE: Refusal = {
  status: 400,
  code: 'valor_invalido',
  message: 'Campo informado é inválido',
};

/** What a `refusal` rule says where it names nothing itself: a documented error of that operation. */
const REFUSALS: Readonly<Record<FaultyOperation, Refusal>> = {
  token: { status: 401, code: 'invalid_client', message: 'Invalid or inactive credentials' },
  issueCharge: {
    status: 400,
    code: 'documento_bloqueado',
    message: 'O documento desta conta tem bloqueios que impedem a emissão',
  },
  getCharge: INVALID_VALUE,
  cancelCharge: {
    status: 400,
    code: 'status_cobranca_invalido',
    message: 'A cobrança não está mais com o status ATIVA',
  },
  getReceived: INVALID_VALUE,
  listReceived: INVALID_VALUE,
  refund: {
    status: 400,
    code: 'valor_invalido',
    message: 'O valor da devolução é maior que o disponível do Pix',
  },
  getRefund: INVALID_VALUE,
  listDisputes: INVALID_VALUE,
  submitDefense: {
    status: 400,
    code: 'infracao_finalizada',
    message: 'A infração não aceita mais defesa',
  },
  sendPayout: { status: 422, code: 'pagamento_negado', message: 'Pagamento negado por análises' },
  getPayout: INVALID_VALUE,
  listSent: INVALID_VALUE,
  balance: INVALID_VALUE,
  registerCallback: { status: 400, code: 'webhook_invalido', message: 'A URL não respondeu' },
};

/** A refusal in Efí's form, with what the rule says over the operation's default. */
export function refusalOf(rule: CallRule): ProviderError {
  const refusal = REFUSALS[rule.operation];
  return efiError(
    rule.status ?? refusal.status,
    rule.code ?? refusal.code,
    rule.message ?? refusal.message,
  );
}

/** A failure of the provider: 500 in the form of API Pix, unless the rule says otherwise. */
export function errorOf(rule: CallRule): ProviderError {
  const status = rule.status ?? 500;
  if (rule.code !== undefined) return efiError(status, rule.code, rule.message ?? rule.code);
  const detail = rule.message === undefined ? {} : { detail: rule.message };
  return apiPixError('ErroInternoDoServidor', status, detail);
}
