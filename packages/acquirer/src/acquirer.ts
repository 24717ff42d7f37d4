import type { AccountId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';

/** The acquirer in domain words. Methods answer outcomes; they throw only for bugs. */
export type Acquirer = AsyncDisposable & {
  /**
   * Fetches a token, which opens a connection too. A process that starts waits for it before it takes calls: the first
   * of them would wait for both within their own time. Ends within a bound, and never fails.
   */
  warmUp(): Promise<void>;
  /** Creates the charge at the acquirer. Only `refused` says that it does not exist there. */
  issueCharge(input: ChargeToIssue, options?: CallOptions): Promise<IssueOutcome>;
  getCharge(txid: string, options?: CallOptions): Promise<Lookup<AcquirerCharge>>;
  /** Takes the charge off the acquirer while nobody has paid it. */
  cancelCharge(txid: string, options?: CallOptions): Promise<CancelOutcome>;
  getReceived(endToEndId: string, options?: CallOptions): Promise<Lookup<ReceivedPix>>;
  /** One page of what was received in a window; both ends are inclusive. */
  listReceived(window: ReceivedWindow, options?: CallOptions): Promise<PageOutcome<ReceivedPix>>;
  /** Orders a Pix under our own idEnvio. Only `refused` says that this call moves nothing. */
  sendPayout(input: PayoutToSend, options?: CallOptions): Promise<SendOutcome>;
  getPayout(idEnvio: string, options?: CallOptions): Promise<Lookup<AcquirerPayout>>;
  /** One page of what was sent in a window; both ends are inclusive. */
  listSent(window: ListWindow, options?: CallOptions): Promise<PageOutcome<AcquirerPayout>>;
  /**
   * Orders the return of a received Pix, or of a part, under our own id. Only `refused` says that this call moves
   * nothing.
   */
  refund(input: RefundToSend, options?: CallOptions): Promise<RefundOutcome>;
  getRefund(
    endToEndId: string,
    refundId: string,
    options?: CallOptions,
  ): Promise<Lookup<PixReturn>>;
  /** One page of disputes by the time of their opening; both ends are inclusive. No callback announces them. */
  listDisputes(window: ListWindow, options?: CallOptions): Promise<PageOutcome<AcquirerDispute>>;
  /** Contests a dispute. A repeat of an accepted defense answers `accepted`. */
  submitDefense(input: DefenseToSend, options?: CallOptions): Promise<DefenseOutcome>;
  /** Money that lies at the acquirer. */
  balance(options?: CallOptions): Promise<BalanceOutcome>;
  /**
   * Registers where the acquirer announces what it receives; under mutual TLS it first tries whether a call without its
   * certificate is refused there.
   * @throws AppError when the acquirer did not take the URL
   */
  registerCallback(url: string, options?: CallOptions & { mutualTls?: boolean }): Promise<void>;
};

/** On whose account a call is made, and how long it may wait for its turn. */
export type CallOptions = {
  /** Calls are made in equal turns by account; without one it is that of the request that is worked for, or none. */
  accountId?: AccountId | null | undefined;
  /** Ends the wait, and the call. */
  signal?: AbortSignal | undefined;
  /** By `performance.now()`: the call is not begun at or after it, but ends as one that was never sent. */
  beginBeforeMs?: number | undefined;
};

export type ChargeToIssue = {
  /** 26 to 35 letters and digits, chosen by us (decision 61). */
  txid: string;
  amountCents: bigint;
  expiresInSeconds: number;
  /** `document` is a normalised CPF or CNPJ. */
  debtor: { name: string; document: string };
  /** Shown to the payer; at most 140 characters. */
  description: string | null;
};

/** Nothing is known: the effect may have happened, and a status check decides. `cause` is a short word for logs. */
export type Unknown = { kind: 'unknown'; cause: string };

/** The acquirer said no, by a code and in words of its own. */
export type Refused = { kind: 'refused'; code: string; message: string };

export type IssueOutcome = { kind: 'issued'; charge: AcquirerCharge } | Refused | Unknown;

export type CancelOutcome =
  | { kind: 'canceled'; charge: AcquirerCharge }
  | Refused
  | { kind: 'not_found' }
  | Unknown;

/** `not_found` is the acquirer's own word for it, never a bare 404 from something in between. */
export type Lookup<T> = { kind: 'found'; value: T } | { kind: 'not_found' } | Unknown;

/** The acquirer's record of a charge. An expired one stays `active`; `settled` proves no amount. */
export type AcquirerCharge = {
  txid: string;
  status: 'active' | 'settled' | 'removed_by_receiver' | 'removed_by_psp';
  amountCents: Cents;
  /** Host and path behind the BR Code, without scheme. */
  location: string | null;
  /** As the acquirer wrote it, unchecked. */
  brCode: string | null;
  createdAt: Date;
  expiresInSeconds: number;
  pixKey: string;
  received: ReceivedPix[];
};

/** A Pix that the acquirer received for us. */
export type ReceivedPix = {
  endToEndId: string;
  txid: string | null;
  pixKey: string | null;
  amountCents: Cents;
  /** When the payment settled, by the acquirer's clock (`horario`). */
  paidAt: Date;
  returns: PixReturn[];
  /** What the acquirer took for it (`gnExtras.tarifa`); null where it does not say. */
  tariffCents: Cents | null;
};

/** A return of a received Pix, by a refund or under MED. */
export type PixReturn = {
  /** The return's own id at the acquirer: ours where we ordered it. */
  id: string;
  /** Of the settlement system (`rtrId`). */
  returnId: string | null;
  amountCents: Cents;
  /** `EM_PROCESSAMENTO`, `DEVOLVIDO`, `NAO_REALIZADO`; another word is `processing`: it proves nothing. */
  status: 'processing' | 'returned' | 'failed';
  /** `ORIGINAL` or `MED_*`; null where the acquirer does not say. */
  nature: string | null;
  /** Why it failed, the acquirer's `motivo`; null otherwise. */
  reason: string | null;
  settledAt: Date | null;
};

export type RefundToSend = {
  endToEndId: string;
  /** 1 to 35 letters and digits, chosen by us: the refund's id without hyphens (decision 76). */
  refundId: string;
  amountCents: bigint;
};

/** `unknown` for a duplicate too: an earlier call may have had its effect. */
export type RefundOutcome = { kind: 'accepted'; refund: PixReturn } | Refused | Unknown;

/** The acquirer's record of an infraction under the MED. */
export type AcquirerDispute = {
  id: string;
  endToEndId: string;
  amountCents: Cents;
  /** `ABERTA`, `EM_DEFESA`, `ACEITA` (for the payer), `REJEITADA`, `CANCELADA_EFI`. */
  status: 'open' | 'under_review' | 'accepted' | 'rejected' | 'canceled';
  /** The acquirer's word (`tipoSituacao`, or `razao` where it names none), not yet mapped. */
  reason: string;
  openedAt: Date;
  deadlineAt: Date | null;
  defenseReceivedAt: Date | null;
  decidedAt: Date | null;
};

export type DefenseToSend = { disputeId: string; text: string };

export type DefenseOutcome = { kind: 'accepted' } | Refused | { kind: 'not_found' } | Unknown;

export type PayoutToSend = {
  /** 1 to 35 letters and digits, chosen by us (decision 61). */
  idEnvio: string;
  amountCents: bigint;
  /** The recipient's key in canonical form (decision 109). */
  pixKey: string;
  /** CPF or CNPJ that the key must belong to; null where the merchant gave none (decision 111). */
  recipientDocument: string | null;
  /** Shown to the recipient; at most 140 characters. */
  description: string | null;
};

/** `unknown` for a duplicate too: an earlier call may have had its effect. */
export type SendOutcome = { kind: 'accepted'; payout: AcquirerPayout } | Refused | Unknown;

/** The acquirer's record of a Pix that it sent for us. */
export type AcquirerPayout = {
  /** Null for a send that was not made through this API. */
  idEnvio: string | null;
  endToEndId: string;
  status: 'processing' | 'settled' | 'rejected';
  amountCents: Cents;
  /** Why it was rejected, `CODE: text`; null otherwise. */
  reason: string | null;
  requestedAt: Date;
  settledAt: Date | null;
  /** Money that the recipient's institution sent back. */
  returns: PixReturn[];
};

export type ListWindow = { from: Date; to: Date; page: number };

/** `returnedOnly`: only Pix of which something went back, or is to go back. */
export type ReceivedWindow = ListWindow & { returnedOnly?: boolean };

/**
 * `unknown` as for look-ups. A page is complete: every item of it is either readable or named as unreadable, so a page
 * with unreadable items proves the absence of nothing.
 */
export type PageOutcome<T> =
  | { kind: 'page'; items: T[]; unreadable: UnreadableItem[]; hasMore: boolean }
  | Unknown;

/** An item that cannot be read: where it stands on its page, and which fields are at fault, never what is in them. */
export type UnreadableItem = {
  /** From 0. */
  position: number;
  /** Names of fields as the acquirer writes them; `[]` for any place of a list. */
  paths: string[];
  /** The Pix that it speaks of, where at least that can be read. */
  endToEndId: string | null;
};

export type BalanceOutcome = { kind: 'found'; amountCents: bigint } | Unknown;
