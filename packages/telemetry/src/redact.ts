/** Names of fields whose values never leave a process but by a contract of their own. */
export const REDACTED_NAMES = [
  'authorization',
  'x-api-key',
  'api_key',
  'key',
  'pix_key',
  'secret',
  'webhook_secret',
  'password',
  'token',
  'document',
  'customer',
  'email',
  'phone',
  'body',
  'headers',
];

export const REDACTED = '[redacted]';

/**
 * Names that stand in messages, the acquirer's too, and never in a log line: people, their keys and accounts,
 * destinations, and texts that somebody wrote.
 */
const NAMES_IN_MESSAGES = [
  ...REDACTED_NAMES,
  'name',
  'recipient',
  'recipient_name',
  'recipient_document',
  'pix_key_canonical',
  'description',
  'reference',
  'destination',
  'webhook_url',
  'failure_reason',
  'message',
  'branch',
  'account',
  'sealed_secret',
  'br_code',
  'chave',
  'cpf',
  'cnpj',
  'nome',
  'pagador',
  'nomePagador',
  'devedor',
  'favorecido',
  'recebedor',
  'agencia',
  'conta',
  'contaBanco',
  'motivo',
  'infoAdicionais',
  'infoPagador',
  'solicitacaoPagador',
  'pixCopiaECola',
];

/** In lower case: what the acquirer names is taken as it came. */
const REDACTED_IN_MESSAGES: ReadonlySet<string> = new Set(
  NAMES_IN_MESSAGES.map((name) => name.toLowerCase()),
);

/** A message as people may see it: its structure, ids, amounts, statuses and times. */
export function redactMessage(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redactMessage);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      REDACTED_IN_MESSAGES.has(name.toLowerCase()) && field !== null
        ? REDACTED
        : redactMessage(field),
    ]),
  );
}
