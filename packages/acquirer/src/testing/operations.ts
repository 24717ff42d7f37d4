import { z } from 'zod';

import {
  Charge,
  ChargeList,
  ChargeListQuery,
  ChargeRequest,
  PixList,
  PixListQuery,
  ReceivedPix,
  Refund,
  RefundRequest,
  RemovalRequest,
  Webhook,
  WebhookRequest,
} from './api-pix-shapes.ts';
import {
  Balance,
  BalanceQuery,
  DefenseRequest,
  DisputeList,
  EfiWindowQuery,
  ResendRequest,
  SendAnswer,
  SendRequest,
  SentList,
  SentPix,
  WebhookTaken,
} from './efi-shapes.ts';

/**
 * One operation of the provider: what it takes, and what it answers by status. `null` is an answer without a body, a
 * string one of that text.
 */
export type Operation = {
  request?: z.ZodType;
  query?: z.ZodType;
  answers: Readonly<Record<number, z.ZodType | string | null>>;
  /** `<status> <name>` of its own problems, beside those of every operation. */
  problems?: readonly string[];
};

/** Problems that the Central Bank lets any operation answer. */
export const GENERAL_PROBLEMS: ReadonlySet<string> = new Set([
  '400 RequisicaoInvalida',
  '403 AcessoNegado',
  '404 NaoEncontrado',
  '410 PermanentementeRemovido',
  '500 ErroInternoDoServidor',
  '503 ServicoIndisponivel',
  '504 IndisponibilidadePorTempoEsgotado',
]);

/** Operations of API Pix that the simulator has, as the Central Bank describes them. */
export const API_PIX: Readonly<Record<string, Operation>> = {
  'PUT /v2/cob/{txid}': {
    request: ChargeRequest,
    answers: { 201: Charge },
    problems: ['400 CobOperacaoInvalida'],
  },
  'PATCH /v2/cob/{txid}': {
    request: RemovalRequest,
    answers: { 200: Charge },
    problems: ['400 CobOperacaoInvalida', '404 CobNaoEncontrado'],
  },
  'GET /v2/cob/{txid}': {
    query: z.object({ revisao: z.coerce.number().int().min(0).optional() }),
    answers: { 200: Charge },
    problems: ['400 CobConsultaInvalida', '404 CobNaoEncontrado'],
  },
  'GET /v2/cob': {
    query: ChargeListQuery,
    answers: { 200: ChargeList },
    problems: ['400 CobConsultaInvalida'],
  },
  'GET /v2/pix/{e2eid}': { answers: { 200: ReceivedPix }, problems: ['404 PixNaoEncontrado'] },
  'GET /v2/pix': {
    query: PixListQuery,
    answers: { 200: PixList },
    problems: ['400 PixConsultaInvalida'],
  },
  'PUT /v2/pix/{e2eid}/devolucao/{id}': {
    request: RefundRequest,
    answers: { 201: Refund },
    problems: ['400 PixDevolucaoInvalida'],
  },
  'GET /v2/pix/{e2eid}/devolucao/{id}': {
    answers: { 200: Refund },
    problems: ['404 PixDevolucaoNaoEncontrada'],
  },
  'PUT /v2/webhook/{chave}': {
    request: WebhookRequest,
    answers: { 200: WebhookTaken },
    problems: ['400 WebhookOperacaoInvalida'],
  },
  'GET /v2/webhook/{chave}': { answers: { 200: Webhook }, problems: ['404 WebhookNaoEncontrado'] },
  'DELETE /v2/webhook/{chave}': { answers: { 204: null }, problems: ['404 WebhookNaoEncontrado'] },
};

/** Efí's own operations, of which the Central Bank says nothing. */
export const EFI: Readonly<Record<string, Operation>> = {
  'PUT /v3/gn/pix/{idEnvio}': {
    request: SendRequest,
    answers: { 201: SendAnswer },
    problems: [
      '400 valor_invalido',
      '400 chave_invalida',
      '409 id_envio_duplicado',
      '422 pagamento_negado',
    ],
  },
  'GET /v2/gn/pix/enviados/id-envio/{idEnvio}': {
    answers: { 200: SentPix },
    problems: ['404 PixEnviadoNaoEncontrado'],
  },
  'GET /v2/gn/pix/enviados/{e2eid}': {
    answers: { 200: SentPix },
    problems: ['404 PixEnviadoNaoEncontrado'],
  },
  'GET /v2/gn/pix/enviados': {
    query: EfiWindowQuery,
    answers: { 200: SentList },
    problems: ['400 valor_invalido'],
  },
  'GET /v2/gn/saldo': { query: BalanceQuery, answers: { 200: Balance } },
  'GET /v2/gn/infracoes': {
    query: EfiWindowQuery,
    answers: { 200: DisputeList },
    problems: ['400 valor_invalido'],
  },
  'POST /v2/gn/infracoes/{id}/defesa': {
    request: DefenseRequest,
    answers: { 201: 'Defesa de infração MED criada' },
    problems: [
      '400 InfracoesConsultaInvalida',
      '404 InfracaoNaoEncontrada',
      '409 InfracaoOperacaoInvalida',
      '422 InfracaoOperacaoInvalida',
    ],
  },
  'POST /v2/gn/webhook/reenviar': { request: ResendRequest, answers: { 202: null } },
};

/** Errors of the token endpoint (RFC 6749 section 5.2), with their statuses. */
export const TOKEN_ERRORS: ReadonlySet<string> = new Set([
  '401 invalid_client',
  '400 invalid_request',
  '400 unsupported_grant_type',
  '400 invalid_scope',
]);

export const TOKEN_OPERATION = 'POST /oauth/token';

/** The answer of the token endpoint. */
export const Token = z.strictObject({
  access_token: z.string().min(1),
  token_type: z.literal('Bearer'),
  expires_in: z.int().min(1),
  scope: z.string().min(1),
});

const PATTERNS = Object.keys({ ...API_PIX, ...EFI, [TOKEN_OPERATION]: null }).map((name) => {
  const [method = '', path = ''] = name.split(' ');
  return { name, method, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) };
});

/** The operation that a call is for; null where there is none. */
export function operationOf(method: string, path: string): string | null {
  return PATTERNS.find((one) => one.method === method && one.pattern.test(path))?.name ?? null;
}
