import { setTimeout as delay } from 'node:timers/promises';

import type { AnswerWord } from '@pixmesh/acquirer/describe-answer';
import { type Deadline, untilDeadline } from '@pixmesh/http/deadline';
import { AppError } from '@pixmesh/kernel/app-error';

import type { ChargeRow, LeasedCharge } from '#charge/charge-row.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { failpoint } from '#failpoints.ts';
import { leaseProcessingCharge, releaseCharge } from '#charge/charge-checks.sql.ts';

import { issueCharge } from './issue-charge.ts';
import type { IssuingDeps } from './issuing-deps.ts';
import { checkIssuing } from './check-issuing.ts';

/** How often a repeated call asks whether the first one, in another process, has finished. */
const FINISH_POLL_MS = 50;

export type Issuing = {
  /**
   * Issues a charge that this call has just stored.
   * @throws AppError `ACQUIRER_REJECTED`; `INTERNAL_ERROR` when the outcome is unknown at the deadline
   */
  issueNew(charge: LeasedCharge, deadline: Deadline): Promise<ChargeRow>;
  /** For a repeat of its key: the charge, out of `processing` if that could be done before the deadline. */
  finish(charge: ChargeRow, deadline: Deadline): Promise<ChargeRow>;
  /** One status check of a leased charge in `processing`; releases the lease. Returns what the acquirer said. */
  check(charge: LeasedCharge): Promise<AnswerWord>;
};

/**
 * Issuing: from a stored charge to a Pix at the acquirer, exactly one, also where answers are lost. The txid
 * is the charge's id, so asking the acquirer decides every doubt (decisions 61–64). Work goes on after a
 * caller's deadline; the row's lease keeps two checks of one charge apart.
 */
export function createIssuing(deps: IssuingDeps): Issuing {
  /** Charges being issued by this process: repeats of their key wait for it instead of polling. */
  const inFlight = new Map<string, Promise<ChargeRow>>();
  return {
    issueNew,
    finish,
    check: async (charge) => (await check(deps, charge, callsBeginBefore(deps, charge))).answer,
  };

  async function issueNew(charge: LeasedCharge, deadline: Deadline): Promise<ChargeRow> {
    const issuing = issueAndConfirm(deps, charge).finally(() => inFlight.delete(charge.id));
    inFlight.set(charge.id, issuing);
    const issued = await untilDeadline(issuing, deadline);
    if (issued === null || issued.status === 'processing') {
      const extra = { charge_id: charge.id };
      throw new AppError('INTERNAL_ERROR', { message: 'the outcome of issuing is unknown', extra });
    }
    if (issued.status === 'failed') throw rejected(issued);
    await failpoint('charges.create.after-commit');
    return issued;
  }

  async function finish(charge: ChargeRow, deadline: Deadline): Promise<ChargeRow> {
    let current = charge;
    while (current.status === 'processing' && deadline.remainingMs() > 0) {
      const local = inFlight.get(charge.id);
      const leased = local ? null : await leaseProcessingCharge(deps.db, charge.id, deps.leaseMs);
      if (leased) {
        const callBeforeMs = callsBeginBefore(deps, leased);
        const checked = await untilDeadline(check(deps, leased, callBeforeMs), deadline);
        return checked?.charge ?? leased;
      }
      await untilDeadline<unknown>(local ?? delay(FINISH_POLL_MS), deadline);
      current = (await findAnyCharge(deps.db, charge.id)) ?? current;
    }
    return current;
  }
}

/** The first call of a charge; an answer that got lost is asked for once, while the caller still waits. */
async function issueAndConfirm(deps: IssuingDeps, charge: LeasedCharge): Promise<ChargeRow> {
  const callBeforeMs = callsBeginBefore(deps, charge);
  const issued = await issueCharge(deps, charge, {
    // The insert has counted it.
    count: () => Promise.resolve({ row: charge, formerCallAt: null }),
    expiresInSeconds: charge.expiresIn,
    callBeforeMs,
  });
  if (issued.status !== 'processing') return issued;
  return (await check(deps, issued, callBeforeMs)).charge;
}

/** Until when by `performance.now()` a call may begin and still end within the lease. */
function callsBeginBefore(
  { leaseMs, acquirerTimeoutMs }: IssuingDeps,
  { leasedFromMs }: LeasedCharge,
): number {
  return leasedFromMs + leaseMs - acquirerTimeoutMs;
}

async function check(
  deps: IssuingDeps,
  charge: ChargeRow,
  callBeforeMs: number,
): Promise<{ charge: ChargeRow; answer: AnswerWord }> {
  const after = await checkIssuing(deps, charge, callBeforeMs);
  if (after.charge.status === 'processing') {
    const nextInMs = nextCheckMs(charge.checks, deps.processingChecks);
    await releaseCharge(deps.db, charge, { answer: after.answer, nextInMs });
  }
  return after;
}

/** The acquirer's own words, as it gave them, with the charge that was stored (decisions 16, 17). */
function rejected(charge: ChargeRow): AppError {
  const reason = charge.failureReason ?? '';
  const text = reason.slice(reason.indexOf(': ') + 2);
  return new AppError('ACQUIRER_REJECTED', {
    extra: { charge_id: charge.id },
    ...(text ? { publicMessage: text } : {}),
  });
}
