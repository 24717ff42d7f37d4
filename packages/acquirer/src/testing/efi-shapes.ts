import { z } from 'zod';

import {
  Amount,
  Cnpj,
  Cpf,
  EndToEndId,
  Instant,
  Key,
  OwnId,
  Refund,
  ShortText,
  WINDOW,
  WINDOW_QUERY,
} from './api-pix-shapes.ts';

/** What Efí sends and takes beyond API Pix, from its public reference. */

const Document = { cpf: Cpf.nullish(), cnpj: Cnpj.nullish() };

export const SendRequest = z.object({
  valor: Amount,
  pagador: z.object({ chave: Key, infoPagador: ShortText.nullish() }),
  favorecido: z
    .object({ chave: Key, contaBanco: z.undefined().optional(), ...Document })
    .refine(({ cpf, cnpj }) => !(cpf && cnpj)),
});

export const SendAnswer = z.strictObject({
  idEnvio: OwnId,
  e2eId: EndToEndId,
  valor: Amount,
  horario: z.strictObject({ solicitacao: Instant }),
  status: z.literal('EM_PROCESSAMENTO'),
});

/** A CPF is masked, as payers see it. */
const MaskedCpf = z.string().regex(/^\*{3}\.\d{3}\.\d{3}-\*{2}$/);

const SendError = z.strictObject({
  codigo: z.string(),
  origem: z.string(),
  motivo: z.string(),
});

export const SentPix = z.strictObject({
  endToEndId: EndToEndId,
  idEnvio: OwnId.optional(),
  valor: Amount,
  chave: Key,
  status: z.enum(['EM_PROCESSAMENTO', 'REALIZADO', 'NAO_REALIZADO']),
  infoPagador: ShortText.optional(),
  horario: z.strictObject({ solicitacao: Instant, liquidacao: Instant.optional() }),
  favorecido: z.strictObject({
    chave: Key,
    identificacao: z
      .strictObject({ nome: z.string(), cpf: MaskedCpf.optional(), cnpj: Cnpj.optional() })
      .optional(),
  }),
  gnExtras: z.strictObject({ erro: SendError }).optional(),
  devolucoes: z.array(Refund).optional(),
});

/** An item of a callback about an order. */
export const SentNotice = z.strictObject({
  endToEndId: EndToEndId,
  chave: Key,
  tipo: z.literal('SOLICITACAO'),
  status: z.enum(['EM_PROCESSAMENTO', 'REALIZADO', 'NAO_REALIZADO']),
  valor: Amount,
  horario: Instant.nullable(),
  devolucoes: z.array(Refund).optional(),
  gnExtras: z.strictObject({ idEnvio: OwnId.optional(), erro: SendError.optional() }),
});

export const SentList = z.strictObject({
  parametros: z.strictObject(WINDOW),
  pix: z.array(SentPix),
});

export const EfiWindowQuery = z.object(WINDOW_QUERY);

const Money = z.string().regex(/^-?\d+\.\d{2}$/);

export const BalanceQuery = z.object({ bloqueios: z.enum(['true', 'false']).optional() });

export const Balance = z.strictObject({
  saldo: Money,
  bloqueios: z.strictObject({ judicial: Money, med: Money, total: Money }).optional(),
});

const Dispute = z.strictObject({
  idInfracao: z.string().min(1),
  endToEndId: EndToEndId,
  protocolo: z.string().min(1),
  valor: Amount,
  status: z.enum(['ABERTA', 'EM_DEFESA', 'ACEITA', 'REJEITADA', 'CANCELADA_EFI']),
  razao: z.string(),
  tipoSituacao: z
    .enum(['golpe', 'aquisição da conta', 'coerção', 'acesso fraudulento', 'outro', 'desconhecido'])
    .optional(),
  dadosAnalise: z.strictObject({
    abertura: Instant,
    prazoFinalizacao: Instant,
    recebimentoDefesa: Instant.nullable(),
    finalizacao: Instant.nullable(),
  }),
});

export const DisputeList = z.strictObject({
  parametros: z.strictObject(WINDOW),
  infracoes: z.array(Dispute),
});

export const DefenseRequest = z.object({
  analise: z.enum(['aceito', 'rejeitado']),
  justificativa: z.string().min(1),
});

export const ResendRequest = z.object({
  tipo: z.enum(['PIX_RECEBIDO', 'PIX_ENVIADO', 'DEVOLUCAO_RECEBIDA', 'DEVOLUCAO_ENVIADA']),
  e2eids: z.array(z.string()).min(1).max(1_000),
});

/** Dialect `webhook body`. */
export const WebhookTaken = z.strictObject({ webhookUrl: z.url() });

/** An error in Efí's form. */
export const EfiError = z.strictObject({ nome: z.string().min(1), mensagem: z.string() });
