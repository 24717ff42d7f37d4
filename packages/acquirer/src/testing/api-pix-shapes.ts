import { z } from 'zod';

/**
 * What API Pix 2.9.0 sends and takes, written from the Central Bank's document and stricter than it in one point: a
 * field that neither the document nor `efi-dialect.ts` names is a fault. Where the document contradicts itself or its
 * own examples, this is the corrected form:
 *
 * - patterns are anchored, and that of a CPF is without its slashes;
 * - a registered webhook shows `chave`, as in the examples, and no `cnpj`;
 * - a list of Pix holds `pix` and no `cobs`, and a listed charge has no `idCob`;
 * - `loc` of a charge has `id`, `location`, `tipoCob` (the examples), and `criacao`;
 * - `location` is no URI: it has no scheme;
 * - 50 is the limit of `infoAdicionais` and not of one of them.
 */

export const Amount = z.string().regex(/^\d{1,10}\.\d{2}$/);
export const Instant = z.iso.datetime({ offset: true });
const Txid = z.string().regex(/^[a-zA-Z0-9]{26,35}$/);
/** A Pix may come with a shorter one: that of a static code. */
const PixTxid = z.string().regex(/^[a-zA-Z0-9]{1,35}$/);
export const OwnId = PixTxid;
const ReturnId = z.string().regex(/^[a-zA-Z0-9]{32}$/);
/** Dialect `chosen ids`: the document says 32 letters and digits. */
export const EndToEndId = z.string().regex(/^[!-~]{1,64}$/);
export const Cpf = z.string().regex(/^\d{11}$/);
export const Cnpj = z.string().regex(/^[0-9A-Z]{14}$/);
export const Key = z.string().max(77);
const Seconds = z.int32().min(1);
export const ShortText = z.string().max(140);

const Person = z.strictObject({ cpf: Cpf, nome: z.string().max(200) });
const Company = z.strictObject({ cnpj: Cnpj, nome: z.string().max(200) });
const Debtor = z.union([Person, Company]);

const AdditionalInfo = z
  .array(z.strictObject({ nome: z.string().max(50), valor: z.string().max(200) }))
  .max(50);

const CHARGE = {
  chave: Key,
  devedor: Debtor.optional(),
  solicitacaoPagador: ShortText.optional(),
  infoAdicionais: AdditionalInfo.optional(),
};

/** CobSolicitada. Dialect `no calendario`: the document requires it. What is not simulated is never taken. */
export const ChargeRequest = z.object({
  ...CHARGE,
  loc: z.undefined().optional(),
  calendario: z.object({ expiracao: Seconds.optional() }).optional(),
  valor: z.object({
    original: Amount,
    modalidadeAlteracao: z.literal(0).optional(),
    retirada: z.undefined().optional(),
  }),
});

/** CobRevisada, as far as it is simulated. */
export const RemovalRequest = z.strictObject({
  status: z.literal('REMOVIDA_PELO_USUARIO_RECEBEDOR'),
});

/** DevolucaoSolicitada. */
export const RefundRequest = z.object({
  valor: Amount,
  natureza: z.literal('ORIGINAL').optional(),
  descricao: ShortText.optional(),
});

/** WebhookSolicitado. */
export const WebhookRequest = z.object({ webhookUrl: z.url() });

/** Devolucao. Dialect `made up natures`: the control API takes any word of capitals. */
export const Refund = z.strictObject({
  id: OwnId,
  rtrId: ReturnId,
  valor: Amount,
  natureza: z
    .string()
    .regex(/^[A-Z_]+$/)
    .optional(),
  descricao: ShortText.optional(),
  horario: z.strictObject({ solicitacao: Instant.optional(), liquidacao: Instant.optional() }),
  status: z.enum(['EM_PROCESSAMENTO', 'DEVOLVIDO', 'NAO_REALIZADO']),
  motivo: ShortText.optional(),
});

/** Pix. Dialect `gnExtras`. */
export const ReceivedPix = z.strictObject({
  endToEndId: EndToEndId,
  txid: PixTxid.optional(),
  valor: Amount,
  chave: Key.optional(),
  horario: Instant,
  infoPagador: ShortText.optional(),
  devolucoes: z.array(Refund).optional(),
  gnExtras: z.strictObject({ tarifa: Amount.optional() }).optional(),
});

/** CobGerada and CobCompleta. */
export const Charge = z.strictObject({
  ...CHARGE,
  calendario: z.strictObject({ criacao: Instant, expiracao: Seconds }),
  txid: Txid,
  revisao: z.int32().min(0),
  loc: z
    .strictObject({
      id: z.int().min(0),
      location: z.string().max(77),
      tipoCob: z.literal('cob'),
      criacao: Instant,
    })
    .optional(),
  location: z.string().max(77).optional(),
  status: z.enum(['ATIVA', 'CONCLUIDA', 'REMOVIDA_PELO_USUARIO_RECEBEDOR', 'REMOVIDA_PELO_PSP']),
  valor: z.strictObject({
    original: Amount,
    modalidadeAlteracao: z.int().min(0).max(1).optional(),
  }),
  pixCopiaECola: z.string().max(512).optional(),
  pix: z.array(ReceivedPix).optional(),
});

const Pagination = z.strictObject({
  paginaAtual: z.int().min(0),
  itensPorPagina: z.int().min(1),
  quantidadeDePaginas: z.int().min(1),
  quantidadeTotalDeItens: z.int().min(0),
});

export const WINDOW = { inicio: Instant, fim: Instant, paginacao: Pagination };

const DOCUMENTS = { cpf: Cpf.optional(), cnpj: Cnpj.optional() };

const CHARGE_FILTERS = { ...DOCUMENTS, status: z.string().optional() };

const PIX_FILTERS = { ...DOCUMENTS, txid: PixTxid.optional() };

export const ChargeList = z.strictObject({
  parametros: z.strictObject({
    ...WINDOW,
    ...CHARGE_FILTERS,
    locationPresente: z.boolean().optional(),
  }),
  cobs: z.array(Charge),
});

export const PixList = z.strictObject({
  parametros: z.strictObject({
    ...WINDOW,
    ...PIX_FILTERS,
    txIdPresente: z.boolean().optional(),
    devolucaoPresente: z.boolean().optional(),
  }),
  pix: z.array(ReceivedPix),
});

const QueryFlag = z.enum(['true', 'false']).optional();

/** `inicio`, `fim` and the page of a list, as a query carries them. */
export const WINDOW_QUERY = {
  inicio: Instant,
  fim: Instant,
  'paginacao.paginaAtual': z.coerce.number().int().min(0).optional(),
  'paginacao.itensPorPagina': z.coerce.number().int().min(1).max(1_000).optional(),
};

const isOneDocument = (query: { cpf?: string | undefined; cnpj?: string | undefined }): boolean =>
  query.cpf === undefined || query.cnpj === undefined;

export const ChargeListQuery = z
  .object({ ...WINDOW_QUERY, ...CHARGE_FILTERS, locationPresente: QueryFlag })
  .refine(isOneDocument);

export const PixListQuery = z
  .object({
    ...WINDOW_QUERY,
    ...PIX_FILTERS,
    txIdPresente: QueryFlag,
    devolucaoPresente: QueryFlag,
  })
  .refine(isOneDocument);

/** WebhookCompleto. */
export const Webhook = z.strictObject({ webhookUrl: z.url(), chave: Key, criacao: Instant });

/** Problema. */
export const Problem = z.strictObject({
  type: z.string().regex(/^https:\/\/pix\.bcb\.gov\.br\/api\/v2\/error\/[^/]+$/),
  title: z.string(),
  status: z.int(),
  detail: z.string().optional(),
  correlationId: z.string().optional(),
  violacoes: z
    .array(
      z.strictObject({
        razao: z.string().optional(),
        propriedade: z.string().optional(),
        valor: z.string().optional(),
      }),
    )
    .optional(),
});
