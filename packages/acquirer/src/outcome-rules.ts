/** Words of the client, as metrics, spans and the simulator's faults use them. */
export const OPERATIONS = [
  'issueCharge',
  'getCharge',
  'cancelCharge',
  'getReceived',
  'listReceived',
  'sendPayout',
  'getPayout',
  'listSent',
  'refund',
  'getRefund',
  'listDisputes',
  'submitDefense',
  'balance',
  'registerCallback',
] as const;
export type Operation = (typeof OPERATIONS)[number];

/**
 * `unknown` is everything that does not prove what happened. It is what no rule below says: 401, 403, 408,
 * 409 (a duplicate: a status check decides), 429, every 5xx, redirects, and each 4xx that we do not recognise by
 * status and code together (decisions 62, 119).
 */
export type Verdict = 'done' | 'refused' | 'not_found' | 'unknown';

type OutcomeRule = {
  operations: readonly Operation[];
  statuses: readonly number[];
  /** Names of problems in the acquirer's error forms; absent where the status alone speaks. */
  codes?: readonly string[] | { anyBut: readonly string[] };
  verdict: Exclude<Verdict, 'unknown'>;
};

/** Names that say nothing about the request: a repeated call, our access, the provider's own trouble. */
const NO_VERDICTS = ['txid_duplicado', 'erro_aplicacao', 'AcessoNegado', 'ServicoIndisponivel'];

/** What the provider says of an order that it will not carry out: its documented names for a send. */
const SEND_REFUSALS = [
  'RequisicaoInvalida',
  'json_invalido',
  'valor_invalido',
  'chave_invalida',
  'chave_nao_pertence_ao_documento',
  'chave_favorecido_nao_encontrada',
  'documento_bloqueado',
  'pagamento_negado',
];

/**
 * What the provider says of a return that it will not carry out. API Pix says `PixDevolucaoInvalida` of a sum, a
 * deadline and of an id that is taken as well: the last one means an earlier call, and while one is without an
 * answer no refusal counts before a status check (decision 119).
 */
const REFUND_REFUSALS = [
  'RequisicaoInvalida',
  'PixDevolucaoInvalida',
  'json_invalido',
  'valor_invalido',
  'pix_nao_encontrado',
];

/**
 * What the provider says of a defense that it will not take: of a broken text, and after the deadline. With 409 the
 * second name says that there is a defense already.
 */
const DEFENSE_REFUSALS = [
  'RequisicaoInvalida',
  'json_invalido',
  'InfracoesConsultaInvalida',
  'InfracaoOperacaoInvalida',
];

/**
 * Refusals of the settlement system and of the recipient's institution, as far as they end the order. `DUPL`
 * is not among them: a duplicate says that there is an order.
 */
const SPI_REFUSALS =
  'AB03 AB09 AC03 AC06 AC07 AC14 AG03 AM02 AM04 BE01 BE17 CH11 DS04 ED05 FRAD RR04'.split(' ');

/**
 * The table of outcomes. A refusal of issuing counts as proof that nothing was created: the provider
 * decided on the request, in its own error form, with a status that means just that (ADR 0007). A refusal of a
 * send has to be one of the codes named here, because believing a wrong one could pay twice (decision 119).
 */
export const OUTCOME_RULES: readonly OutcomeRule[] = [
  { operations: ['issueCharge'], statuses: [200, 201], verdict: 'done' },
  {
    operations: ['issueCharge'],
    statuses: [400, 422],
    codes: { anyBut: NO_VERDICTS },
    verdict: 'refused',
  },
  { operations: ['getCharge', 'cancelCharge', 'getReceived'], statuses: [200], verdict: 'done' },
  {
    // Efí answers 400 for what it does not know, API Pix 404.
    operations: ['getCharge', 'cancelCharge'],
    statuses: [400, 404],
    codes: ['CobNaoEncontrado', 'NaoEncontrado', 'cobranca_nao_encontrada'],
    verdict: 'not_found',
  },
  {
    operations: ['getReceived'],
    statuses: [400, 404],
    codes: ['PixNaoEncontrado', 'NaoEncontrado', 'pix_nao_encontrado'],
    verdict: 'not_found',
  },
  { operations: ['sendPayout'], statuses: [200, 201], verdict: 'done' },
  {
    operations: ['sendPayout'],
    statuses: [400, 422],
    codes: [...SEND_REFUSALS, ...SPI_REFUSALS],
    verdict: 'refused',
  },
  {
    // The recipient's key, not the order, is what the acquirer did not find.
    operations: ['sendPayout'],
    statuses: [404],
    codes: ['chave_favorecido_nao_encontrada'],
    verdict: 'refused',
  },
  {
    operations: ['getPayout', 'getRefund', 'listSent', 'listReceived', 'listDisputes', 'balance'],
    statuses: [200],
    verdict: 'done',
  },
  {
    // Narrower than for charges: "not found" lets the order be sent again, and later lets a refusal count.
    operations: ['getPayout'],
    statuses: [400, 404],
    codes: ['PixEnviadoNaoEncontrado', 'pix_enviado_nao_encontrado', 'pix_nao_encontrado'],
    verdict: 'not_found',
  },
  {
    operations: ['cancelCharge'],
    statuses: [400, 422],
    codes: ['CobOperacaoInvalida', 'status_cobranca_invalido'],
    verdict: 'refused',
  },
  { operations: ['refund'], statuses: [200, 201], verdict: 'done' },
  {
    operations: ['refund'],
    statuses: [400, 422],
    codes: REFUND_REFUSALS,
    verdict: 'refused',
  },
  {
    // The Pix, not the return, is what the acquirer did not find.
    operations: ['refund'],
    statuses: [404],
    codes: ['PixNaoEncontrado'],
    verdict: 'refused',
  },
  {
    // Narrow as for payouts: "not found" lets the return be ordered again. That the Pix itself is unknown is no
    // such word: we had it from the acquirer.
    operations: ['getRefund'],
    statuses: [400, 404],
    codes: ['PixDevolucaoNaoEncontrada', 'devolucao_nao_encontrada'],
    verdict: 'not_found',
  },
  {
    // The status alone speaks: its body is a text. A 200 may come from something in between.
    operations: ['submitDefense'],
    statuses: [201],
    verdict: 'done',
  },
  {
    operations: ['submitDefense'],
    statuses: [400, 404],
    codes: ['InfracaoNaoEncontrada', 'NaoEncontrado', 'infracao_nao_encontrada'],
    verdict: 'not_found',
  },
  {
    operations: ['submitDefense'],
    statuses: [400, 422],
    codes: DEFENSE_REFUSALS,
    verdict: 'refused',
  },
  { operations: ['registerCallback'], statuses: [200, 201], verdict: 'done' },
  {
    operations: ['registerCallback'],
    statuses: [400, 422],
    codes: ['RequisicaoInvalida', 'WebhookOperacaoInvalida', 'webhook_invalido', 'chave_invalida'],
    verdict: 'refused',
  },
];

/** What an answer proves. `code` is the name of the problem in its body, null where it has none. */
export function decideOutcome(operation: Operation, status: number, code: string | null): Verdict {
  const rule = OUTCOME_RULES.find(
    ({ operations, statuses, codes }) =>
      operations.includes(operation) && statuses.includes(status) && namesProblem(codes, code),
  );
  return rule?.verdict ?? 'unknown';
}

function namesProblem(codes: OutcomeRule['codes'], code: string | null): boolean {
  if (codes === undefined) return true;
  if (!code) return false;
  return 'anyBut' in codes ? !codes.anyBut.includes(code) : codes.includes(code);
}
