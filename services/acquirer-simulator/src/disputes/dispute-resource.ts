import { formatAmountText } from '@pixmesh/acquirer/amount-text';

/** Words of the provider; the first two are open. */
export const DISPUTE_STATUSES = [
  'ABERTA',
  'EM_DEFESA',
  'ACEITA',
  'REJEITADA',
  'CANCELADA_EFI',
] as const;
export type DisputeStatus = (typeof DISPUTE_STATUSES)[number];

/** A contest of a received Pix under the MED, as stored. */
export type StoredDispute = {
  id: string;
  protocol: bigint;
  endToEndId: string;
  amountCents: bigint;
  reason: string;
  status: DisputeStatus;
  openedAt: Date;
  /** End of the time for a defense. */
  deadlineAt: Date;
  defenseReceivedAt: Date | null;
  decidedAt: Date | null;
  /** What has gone back because of it. */
  returnedCents: bigint;
};

/** A dispute as `GET /v2/gn/infracoes` shows it. */
export function toDisputeResource(dispute: StoredDispute): object {
  return {
    idInfracao: dispute.id,
    endToEndId: dispute.endToEndId,
    protocolo: String(dispute.protocol),
    valor: formatAmountText(dispute.amountCents),
    status: dispute.status,
    ...describeReason(dispute.reason),
    dadosAnalise: {
      abertura: dispute.openedAt.toISOString(),
      prazoFinalizacao: dispute.deadlineAt.toISOString(),
      recebimentoDefesa: dispute.defenseReceivedAt?.toISOString() ?? null,
      finalizacao: dispute.decidedAt?.toISOString() ?? null,
    },
  };
}

/** A dispute as the control API shows it. */
export function describeDispute(dispute: StoredDispute) {
  return {
    id: dispute.id,
    end_to_end_id: dispute.endToEndId,
    amount: Number(dispute.amountCents),
    reason: dispute.reason,
    status: dispute.status,
    returned_amount: Number(dispute.returnedCents),
    opened_at: dispute.openedAt.toISOString(),
    deadline_at: dispute.deadlineAt.toISOString(),
    defense_received_at: dispute.defenseReceivedAt?.toISOString() ?? null,
    decided_at: dispute.decidedAt?.toISOString() ?? null,
  };
}

/** The word of the payer's side for an error of an institution rather than a fraud. */
const OPERATIONAL_FLAW = 'OPERATIONAL_FLAW';

/** `natureza` of a return that follows from a dispute. */
export function natureOf(reason: string): 'MED_OPERACIONAL' | 'MED_FRAUDE' {
  return reason === OPERATIONAL_FLAW ? 'MED_OPERACIONAL' : 'MED_FRAUDE';
}

/** Kind of report and situation in the provider's words. A reason without a situation stands in the place of the kind. */
function describeReason(reason: string): { razao: string; tipoSituacao?: string } {
  const tipoSituacao = SITUATIONS.get(reason);
  return tipoSituacao === undefined
    ? { razao: reason }
    : { razao: 'Solicitacao de devolução', tipoSituacao };
}

const SITUATIONS: ReadonlyMap<string, string> = new Map([
  ['SCAM', 'golpe'],
  ['ACCOUNT_TAKEOVER', 'aquisição da conta'],
  ['COERCION', 'coerção'],
  ['FRAUDULENT_ACCESS', 'acesso fraudulento'],
  ['OTHER', 'outro'],
]);
