export const JSON_TYPE = 'application/json; charset=utf-8';
const PROBLEM_TYPES = 'https://pix.bcb.gov.br/api/v2/error';

const TITLES = {
  RequisicaoInvalida: 'Requisição inválida.',
  CobOperacaoInvalida: 'Cobrança inválida.',
  CobConsultaInvalida: 'Consulta de cobranças inválida.',
  PixConsultaInvalida: 'Consulta de Pix inválida.',
  WebhookOperacaoInvalida: 'Webhook inválido.',
  AcessoNegado: 'Acesso negado.',
  NaoEncontrado: 'Não encontrado.',
  CobNaoEncontrado: 'Cobrança não encontrada.',
  CobPayloadNaoEncontrado: 'Cobrança não encontrada para a location requisitada.',
  PixNaoEncontrado: 'Pix não encontrado.',
  PixDevolucaoNaoEncontrada: 'Devolução não encontrada.',
  PixDevolucaoInvalida: 'Devolução inválida.',
  InfracaoNaoEncontrada: 'Infração não encontrada.',
  InfracaoOperacaoInvalida: 'Operação inválida.',
  InfracoesConsultaInvalida: 'Consulta inválida.',
  PixEnviadoNaoEncontrado: 'Pix enviado não encontrado.',
  WebhookNaoEncontrado: 'Webhook não encontrado.',
  ErroInternoDoServidor: 'Erro interno do servidor.',
  ServicoIndisponivel: 'Serviço indisponível.',
  IndisponibilidadePorTempoEsgotado: 'Tempo esgotado.',
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
  return problemError(name, status, { title: TITLES[name], ...more });
}

/** The same under a name that somebody else chose. */
export function problemError(
  name: string,
  status: number,
  more: { title: string; detail?: string; violacoes?: readonly Violation[] },
): ProviderError {
  const { title, detail = title, violacoes } = more;
  return new ProviderError(status, 'application/problem+json; charset=utf-8', {
    type: `${PROBLEM_TYPES}/${encodeURIComponent(name)}`,
    title,
    status,
    detail,
    ...(violacoes && { violacoes }),
  });
}

/** What API Pix calls a failure of which nothing but its status is known. */
export function problemOfStatus(status: number): ProblemName {
  if (status === 401 || status === 403) return 'AcessoNegado';
  if (status === 404) return 'NaoEncontrado';
  if (status === 503) return 'ServicoIndisponivel';
  if (status === 504) return 'IndisponibilidadePorTempoEsgotado';
  return status >= 500 ? 'ErroInternoDoServidor' : 'RequisicaoInvalida';
}

/** An error in Efí's own form. */
export function efiError(status: number, nome: string, mensagem: string): ProviderError {
  return new ProviderError(status, JSON_TYPE, { nome, mensagem });
}

/** An error of the token endpoint (RFC 6749 section 5.2). */
export function oauthError(status: number, error: string, description: string): ProviderError {
  return new ProviderError(status, JSON_TYPE, { error, error_description: description });
}
