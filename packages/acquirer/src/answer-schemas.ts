import { type Cents } from '@pixmesh/kernel/money';
import { isPlainText } from '@pixmesh/kernel/text';
import { z } from 'zod';

import { parseAmountText, parseBalanceText } from './amount-text.ts';

/**
 * What the acquirer answers, as far as we read it. Objects stay open, since API Pix grows by new fields; a
 * known field of another form makes the whole answer unreadable, and its outcome unknown. In a list that holds for
 * each item by itself.
 */

/** What is stored: a control character, which the database refuses, makes the answer unreadable. */
const StoredText = z.string().refine(isPlainText);
const Id = StoredText.max(64);

/** Documented end-to-end ids have 32 characters, real ones deviate: any 1 to 64 are taken. */
export const EndToEndId = Id.min(1);

const Amount = z.string().transform((text, context): Cents => {
  const cents = parseAmountText(text);
  if (cents !== null) return cents;
  context.addIssue({ code: 'custom', message: 'expected an amount with two decimals' });
  return z.NEVER;
});

const Instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

/** API Pix says integer; Efí's published answers also show digits in quotes. */
const Seconds = z.union([
  z.int().min(0),
  z
    .string()
    .regex(/^[0-9]{1,10}$/)
    .transform(Number),
]);

/** A word of the acquirer's own vocabulary that is stored as it stands; it may grow by new words. */
const Word = Id;

/** `status` is open: a word that nobody knows must not hide the other returns of a Pix. */
export const ReturnAnswer = z.object({
  id: Id,
  rtrId: Id.nullish(),
  valor: Amount,
  status: z.string(),
  natureza: Word.nullish(),
  motivo: z.string().nullish(),
  horario: z.object({ liquidacao: Instant.nullish() }).nullish(),
});
export type ReturnAnswer = z.output<typeof ReturnAnswer>;

const Balance = z.string().transform((text, context): bigint => {
  const cents = parseBalanceText(text);
  if (cents !== null) return cents;
  context.addIssue({ code: 'custom', message: 'expected a balance with two decimals' });
  return z.NEVER;
});

export const ReceivedPixAnswer = z.object({
  endToEndId: EndToEndId,
  txid: z.string().nullish(),
  chave: z.string().nullish(),
  valor: Amount,
  horario: Instant,
  gnExtras: z.object({ tarifa: Amount.nullish() }).nullish(),
  devolucoes: z.array(ReturnAnswer).nullish(),
});
export type ReceivedPixAnswer = z.output<typeof ReceivedPixAnswer>;

export const ChargeAnswer = z.object({
  txid: z.string(),
  status: z.enum(['ATIVA', 'CONCLUIDA', 'REMOVIDA_PELO_USUARIO_RECEBEDOR', 'REMOVIDA_PELO_PSP']),
  calendario: z.object({ criacao: Instant, expiracao: Seconds }),
  valor: z.object({ original: Amount }),
  chave: z.string(),
  location: StoredText.nullish(),
  loc: z.object({ location: StoredText.nullish() }).nullish(),
  pixCopiaECola: StoredText.nullish(),
  pix: z.array(ReceivedPixAnswer).nullish(),
});
export type ChargeAnswer = z.output<typeof ChargeAnswer>;

const SendStatus = z.enum(['EM_PROCESSAMENTO', 'REALIZADO', 'NAO_REALIZADO']);

/** The immediate answer to an order names the end-to-end id otherwise than every later one. */
export const SendAnswer = z.object({
  idEnvio: z.string(),
  e2eId: EndToEndId,
  valor: Amount,
  horario: z.object({ solicitacao: Instant }),
  status: SendStatus,
});

export const SentPixAnswer = z.object({
  idEnvio: z.string().nullish(),
  endToEndId: EndToEndId,
  valor: Amount,
  status: SendStatus,
  horario: z.object({ solicitacao: Instant, liquidacao: Instant.nullish() }),
  gnExtras: z
    .object({
      erro: z.object({ codigo: z.string().nullish(), motivo: z.string().nullish() }).nullish(),
    })
    .nullish(),
  devolucoes: z.array(ReturnAnswer).nullish(),
});
export type SentPixAnswer = z.output<typeof SentPixAnswer>;

const Pagination = z.object({
  paginaAtual: z.int().min(0),
  itensPorPagina: z.int().min(1),
  quantidadeDePaginas: z.int().min(0),
});
export type Pagination = z.output<typeof Pagination>;

/** One page of a list, whatever name its items have; each of them is read by itself. */
export const ListAnswer = z.looseObject({ parametros: z.object({ paginacao: Pagination }) });

export const DisputeAnswer = z.object({
  idInfracao: Id.min(1),
  endToEndId: EndToEndId,
  valor: Amount,
  status: z.enum(['ABERTA', 'EM_DEFESA', 'ACEITA', 'REJEITADA', 'CANCELADA_EFI']),
  razao: Word,
  // A label alone: whatever it is, it hides no dispute.
  tipoSituacao: Word.nullish().catch(null),
  dadosAnalise: z.object({
    abertura: Instant,
    prazoFinalizacao: Instant.nullish(),
    recebimentoDefesa: Instant.nullish(),
    finalizacao: Instant.nullish(),
  }),
});
export type DisputeAnswer = z.output<typeof DisputeAnswer>;

export const BalanceAnswer = z.object({ saldo: Balance });

export const TokenAnswer = z.object({
  access_token: z.string().min(1),
  expires_in: z.number().positive(),
});

/** Error of API Pix: RFC 7807 with a `type` of the Central Bank's list. */
export const ApiPixProblem = z.object({
  type: z.string(),
  title: z.string().nullish(),
  detail: z.string().nullish(),
});

/** Error in Efí's own form. */
export const EfiProblem = z.object({ nome: z.string(), mensagem: z.string().nullish() });
