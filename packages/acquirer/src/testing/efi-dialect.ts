/** Where the simulator answers otherwise than the Central Bank's document says, and why. The one list of it. */
export type Deviation = {
  /** As in `operations.ts`; `*` stands for every operation. */
  operation: string;
  /** `<status> <name>` of an error, or a word for something in a body. */
  what: string;
  reason: string;
};

export const EFI_DIALECT: readonly Deviation[] = [
  {
    operation: '*',
    what: '401 AcessoNegado',
    reason: 'The document leaves a missing token to OAuth 2; Efí says it in this form.',
  },
  {
    operation: '*',
    what: '405 RequisicaoInvalida',
    reason: 'HTTP’s own status for a known path with another method, with `Allow`.',
  },
  {
    operation: '*',
    what: '413 RequisicaoInvalida',
    reason: 'HTTP’s own status for a body of more than 64 KiB.',
  },
  {
    operation: 'PUT /v2/cob/{txid}',
    what: '409 txid_duplicado',
    reason: 'At Efí a txid is taken once; the document lets a second PUT alter the charge.',
  },
  {
    operation: 'PUT /v2/cob/{txid}',
    what: '400 valor_invalido',
    reason: 'Efí’s word for 0.00.',
  },
  {
    operation: 'PUT /v2/cob/{txid}',
    what: '400 chave_invalida',
    reason: 'Efí’s word for a key of another account.',
  },
  {
    operation: 'PUT /v2/cob/{txid}',
    what: 'no calendario',
    reason: 'It may be left out: the document gives the expiry a default of a day.',
  },
  {
    operation: 'PATCH /v2/cob/{txid}',
    what: '400 status_cobranca_invalido',
    reason: 'Efí’s word for a charge that is no longer `ATIVA`.',
  },
  {
    operation: 'PUT /v2/pix/{e2eid}/devolucao/{id}',
    what: '409 devolucao_id_duplicado',
    reason: 'Efí tells a taken id from a refusal; the document calls both `PixDevolucaoInvalida`.',
  },
  {
    operation: 'PUT /v2/pix/{e2eid}/devolucao/{id}',
    what: '404 PixNaoEncontrado',
    reason: 'Says that the Pix is unknown; the document names that only of `GET /pix/{e2eid}`.',
  },
  {
    operation: 'GET /v2/pix/{e2eid}/devolucao/{id}',
    what: '404 PixNaoEncontrado',
    reason: 'The same: an unknown Pix is not an unknown return.',
  },
  {
    operation: 'PUT /v2/webhook/{chave}',
    what: '400 chave_invalida',
    reason: 'Efí’s word for a key of another account.',
  },
  {
    operation: 'PUT /v2/webhook/{chave}',
    what: '400 webhook_invalido',
    reason: 'Efí’s word for a URL that does not ask for its certificate.',
  },
  {
    operation: 'PUT /v2/webhook/{chave}',
    what: 'webhook body',
    reason: 'Efí repeats `webhookUrl`; the document describes no body.',
  },
  {
    operation: '*',
    what: 'gnExtras',
    reason: 'Efí’s own fields of a Pix: here the tariff.',
  },
  {
    operation: '*',
    what: 'chosen ids',
    reason: 'An end-to-end id given to the control API stays as it is: real ones deviate too.',
  },
  {
    operation: '*',
    what: 'made up natures',
    reason: 'The control API takes words for `natureza` that are still to be invented.',
  },
];
