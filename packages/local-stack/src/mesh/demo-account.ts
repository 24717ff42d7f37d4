/** A merchant that may do everything. Its CNPJ has right check digits and belongs to no company. */
export const DEMO_ACCOUNT = {
  name: 'Loja Demonstracao',
  legal_name: 'Loja Demonstracao Ltda',
  document: '11444777000161',
  phone: '+5511900000000',
  onboarding_status: 'approved',
  auto_payout_enabled: true,
  /** Cents. */
  payout_fee: 50,
};
