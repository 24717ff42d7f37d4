/** What is known when somebody pays; `charge` is null where the txid is unknown. */
export type PayFacts = {
  charge: { txid: string; isExpired: boolean } | null;
  /** The Pix that already has the end-to-end id that was asked for. */
  existing: { txid: string | null } | null;
  /** Whether the caller says when the payment settled. */
  paidAtGiven: boolean;
};

export type PayDecision =
  | 'new_pix'
  | 'repeated_notice'
  | 'charge_not_found'
  | 'charge_expired'
  | 'end_to_end_id_taken';

/**
 * Decides what a `pay` means. Any amount is taken, a settled charge is paid once more, and a removed one too:
 * those are the wrong, second and late Pix that the mesh has to survive. An expired charge is refused as a
 * payer's institution would, unless the caller says that the payment settled at some time.
 */
export function decidePay(facts: PayFacts): PayDecision {
  const { charge, existing } = facts;
  if (charge === null) return 'charge_not_found';
  if (existing !== null) {
    return existing.txid === charge.txid ? 'repeated_notice' : 'end_to_end_id_taken';
  }
  if (charge.isExpired && !facts.paidAtGiven) return 'charge_expired';
  return 'new_pix';
}
