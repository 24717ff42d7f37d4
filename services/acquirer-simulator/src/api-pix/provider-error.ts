export const JSON_TYPE = 'application/json; charset=utf-8';
const PROBLEM_TYPES = 'https://pix.bcb.gov.br/api/v2/error';

const TITLES = {
  RequisicaoInvalida: 'Requisição inválida.',
  CobOperacaoInvalida: 'Cobrança inválida.',
  AcessoNegado: 'Acesso negado.',
  NaoEncontrado: 'Não encontrado.',
  CobNaoEncontrado: 'Cobrança não encontrada.',
  CobPayloadNaoEncontrado: 'Cobrança não encontrada para a location requisitada.',
  PixNaoEncontrado: 'Pix não encontrado.',
  PixDevolucaoNaoEncontrada: 'Devolução não encontrada.',
  PixDevolucaoInvalida: 'Devolução inválida.',
  InfracaoNaoEncontrada: 'Infração não encontrada.',
  PixEnviadoNaoEncontrado: 'Pix enviado não encontrado.',
  WebhookNaoEncontrado: 'Webhook não encontrado.',
  ErroInternoDoServidor: 'Erro interno do servidor.',
  ServicoIndisponivel: 'Serviço indisponível.',
} as const;

export type ProblemName = keyof typeof TITLES;

/** One broken rule of a request, as API Pix lists them. Values of fields are never repeated. */
export type Violation = { razao: string; propriedade: string };

/** What the provider says instead of doing what was asked, as status and body. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly status: number;
  readonly contentType: string;
  readonly body: object;

  constructor(status: number, contentType: string, body: object) {
    super(`the provider answers ${status}`);
    this.status = status;
    this.contentType = contentType;
    this.body = body;
  }
}

/** An error in the form of API Pix (RFC 7807). */
export function apiPixError(
  name: ProblemName,
  status: number,
  more: { detail?: string; violacoes?: readonly Violation[] } = {},
): ProviderError {
  const title = TITLES[name];
  const type = `${PROBLEM_TYPES}/${name}`;
  return new ProviderError(status, 'application/problem+json; charset=utf-8', {
    type,
    title,
    status,
    detail: more.detail ?? title,
    ...(more.violacoes && { violacoes: more.violacoes }),
  });
}

/** An error in Efí's own form. */
export function efiError(status: number, nome: string, mensagem: string): ProviderError {
  return new ProviderError(status, JSON_TYPE, { nome, mensagem });
}
