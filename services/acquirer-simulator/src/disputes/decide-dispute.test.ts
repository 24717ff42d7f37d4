import { describe, expect, it } from 'vitest';

import { decideDispute, type DisputeAct } from './decide-dispute.ts';
import { DISPUTE_STATUSES, type DisputeStatus, natureOf } from './dispute-resource.ts';

/** What each act makes of each status; `=` changes nothing, `!` is a conflict. */
const TABLE: Record<DisputeStatus, Record<DisputeAct, DisputeStatus | '=' | '!'>> = {
  ABERTA: { defend: 'EM_DEFESA', win: 'REJEITADA', lose: 'ACEITA', withdraw: 'CANCELADA_EFI' },
  EM_DEFESA: { defend: 'EM_DEFESA', win: 'REJEITADA', lose: 'ACEITA', withdraw: 'CANCELADA_EFI' },
  ACEITA: { defend: '!', win: '!', lose: '=', withdraw: '!' },
  REJEITADA: { defend: '!', win: '=', lose: 'ACEITA', withdraw: '!' },
  CANCELADA_EFI: { defend: '!', win: '!', lose: '!', withdraw: '=' },
};

const ACTS = ['defend', 'win', 'lose', 'withdraw'] as const;
const CELLS = DISPUTE_STATUSES.flatMap((status) =>
  ACTS.map((act) => [act, status, TABLE[status][act]] as const),
);

describe('a dispute', () => {
  it.each(CELLS)('%s while %s: %s', (act, status, expected) => {
    const decision = decideDispute({ status, isDefended: false, isLate: false }, act);
    if (expected === '=') expect(decision).toEqual({ kind: 'nothing' });
    else if (expected === '!') expect(decision).toEqual({ kind: 'conflict' });
    else expect(decision).toEqual({ kind: 'move', status: expected });
  });

  it('is defended once, and a repeated defense is no fault, however late', () => {
    const facts = { status: 'EM_DEFESA', isDefended: true } as const;
    expect(decideDispute({ ...facts, isLate: true }, 'defend')).toEqual({ kind: 'nothing' });
  });

  it('is not defended after its time, whether or not it has come under review by then', () => {
    for (const status of ['ABERTA', 'EM_DEFESA'] as const) {
      const facts = { status, isDefended: false, isLate: true };
      expect(decideDispute(facts, 'defend')).toEqual({ kind: 'late' });
    }
  });

  it('leads to a return of the nature of its reason', () => {
    expect(natureOf('OPERATIONAL_FLAW')).toBe('MED_OPERACIONAL');
    for (const reason of ['SCAM', 'COERCION', 'OTHER']) expect(natureOf(reason)).toBe('MED_FRAUDE');
  });
});
