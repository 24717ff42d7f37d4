import {
  apiPixError,
  efiError,
  oauthError,
  problemError,
  problemOfStatus,
  type ProviderError,
} from '#api-pix/provider-error.ts';

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
    status: 422,
    code: 'InfracaoOperacaoInvalida',
    message: 'O prazo para defesa foi excedido.',
  },
  sendPayout: { status: 422, code: 'pagamento_negado', message: 'Pagamento negado por análises' },
  getPayout: INVALID_VALUE,
  listSent: INVALID_VALUE,
  balance: INVALID_VALUE,
  registerCallback: { status: 400, code: 'webhook_invalido', message: 'A URL não respondeu' },
};

/** Calls with problems in the form of API Pix: those of the Central Bank, and Efí's defense. The others are Efí's own. */
const OF_API_PIX: ReadonlySet<FaultyOperation> = new Set([
  'issueCharge',
  'getCharge',
  'cancelCharge',
  'getReceived',
  'listReceived',
  'refund',
  'getRefund',
  'registerCallback',
  'submitDefense',
]);

/** A refusal, with what the rule says over the operation's default. */
export function refusalOf(rule: CallRule): ProviderError {
  const refusal = REFUSALS[rule.operation];
  return namedError(rule.operation, {
    status: rule.status ?? refusal.status,
    code: rule.code ?? refusal.code,
    message: rule.message ?? refusal.message,
  });
}

/**
 * A failure of the provider: 500 unless the rule says otherwise. It says nothing of the call: what proves something is
 * a `refusal`, or a failure that is given a code.
 */
export function errorOf(rule: CallRule): ProviderError {
  const { operation, status = 500, code, message } = rule;
  if (code !== undefined) return namedError(operation, { status, code, message: message ?? code });
  const isNamed = OF_API_PIX.has(operation) && status >= 500;
  const name = isNamed ? problemOfStatus(status) : 'ErroInternoDoServidor';
  return apiPixError(name, status, message === undefined ? {} : { detail: message });
}

/** In the form of the call: the Central Bank's, that of the token endpoint (RFC 6749), or Efí's. */
function namedError(operation: FaultyOperation, said: Refusal): ProviderError {
  const { status, code, message } = said;
  if (OF_API_PIX.has(operation)) return problemError(code, status, { title: message });
  return operation === 'token'
    ? oauthError(status, code, message)
    : efiError(status, code, message);
}
