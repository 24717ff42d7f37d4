/** Words of the client, as metrics, spans and the simulator's faults use them. */
export type Operation =
  | 'issueCharge'
  | 'getCharge'
  | 'cancelCharge'
  | 'getReceived'
  | 'registerCallback';

/**
 * `unknown` is everything that does not prove what happened. It is what no rule below says: 401, 403, 408,
 * 409 (a duplicate: read it back), 429, every 5xx, redirects, and each 4xx that we do not recognise by
 * status and code together (decisions 62, 119).
 */
export type Verdict = 'done' | 'refused' | 'not_found' | 'unknown';

type OutcomeRule = {
  operations: readonly Operation[];
  statuses: readonly number[];
  /** Names of problems; absent where the status alone speaks. */
  codes?: readonly string[];
  verdict: Exclude<Verdict, 'unknown'>;
};

/** Refusal codes of SPI that a provider may pass on (Central Bank, message catalogue). */
const SPI_CODES = [
  'AB03',
  'AB09',
  'AC03',
  'AC06',
  'AC07',
  'AC14',
  'AG03',
  'AM02',
  'AM04',
  'BE01',
  'BE17',
  'CH11',
  'DS04',
  'ED05',
  'FRAD',
  'RR04',
] as const;

/**
 * The truth table of answers. A refusal counts as proof that nothing was created, so its list is closed: a
 * name is added only with the provider's documentation at hand.
 */
export const OUTCOME_RULES: readonly OutcomeRule[] = [
  { operations: ['issueCharge'], statuses: [200, 201], verdict: 'done' },
  {
    operations: ['issueCharge'],
    statuses: [400, 422],
    codes: [
      'RequisicaoInvalida',
      'CobOperacaoInvalida',
      'valor_invalido',
      'chave_invalida',
      'documento_bloqueado',
      ...SPI_CODES,
    ],
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
  {
    operations: ['cancelCharge'],
    statuses: [400, 422],
    codes: ['CobOperacaoInvalida', 'status_cobranca_invalido'],
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
export function judgeAnswer(operation: Operation, status: number, code: string | null): Verdict {
  const rule = OUTCOME_RULES.find(
    ({ operations, statuses, codes }) =>
      operations.includes(operation) &&
      statuses.includes(status) &&
      (codes === undefined || (code !== null && codes.includes(code))),
  );
  return rule?.verdict ?? 'unknown';
}
