import type { Cents } from '@pixmesh/kernel/money';

/** The acquirer in domain words. Methods answer outcomes; they throw only for bugs. */
export type Acquirer = AsyncDisposable & {
  /** Creates the charge at the acquirer. Only `refused` says that it does not exist there. */
  issueCharge(input: ChargeToIssue, signal?: AbortSignal): Promise<IssueOutcome>;
  getCharge(txid: string, signal?: AbortSignal): Promise<Lookup<AcquirerCharge>>;
  /** Takes the charge off the acquirer while nobody has paid it. */
  cancelCharge(txid: string, signal?: AbortSignal): Promise<CancelOutcome>;
  getReceived(endToEndId: string, signal?: AbortSignal): Promise<Lookup<ReceivedPix>>;
  /**
   * Tells the acquirer where to announce what it receives.
   * @throws AppError when the acquirer did not take the URL
   */
  registerCallback(url: string, signal?: AbortSignal): Promise<void>;
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

/**
 * `unknown`: the charge may or may not exist at the acquirer, so it has to be read back; `cause` is a short
 * word for logs. `code` and `message` of a refusal are the acquirer's.
 */
export type IssueOutcome =
  | { kind: 'issued'; charge: AcquirerCharge }
  | { kind: 'refused'; code: string; message: string }
  | { kind: 'unknown'; cause: string };

export type CancelOutcome =
  | { kind: 'canceled'; charge: AcquirerCharge }
  | { kind: 'refused'; code: string; message: string }
  | { kind: 'not_found' }
  | { kind: 'unknown'; cause: string };

/** `not_found` is the acquirer's own word for it, never a bare 404 from something in between. */
export type Lookup<T> =
  | { kind: 'found'; value: T }
  | { kind: 'not_found' }
  | { kind: 'unknown'; cause: string };

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
};

/** A return of a received Pix, by a refund or under MED. */
export type PixReturn = {
  id: string;
  returnId: string | null;
  amountCents: Cents;
  /** The acquirer's word, such as `DEVOLVIDO`. */
  status: string;
  /** `ORIGINAL` or `MED_*`; null where the acquirer does not say. */
  nature: string | null;
};
