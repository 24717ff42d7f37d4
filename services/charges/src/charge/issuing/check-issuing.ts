import type { AcquirerCharge, Lookup } from '@pixmesh/acquirer/acquirer';
import { type AnswerWord, toAnswerWord } from '@pixmesh/acquirer/describe-answer';
import { assertNever } from '@pixmesh/kernel/app-error';
import { nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import type { ChargeRow } from '#charge/charge-row.ts';
import { countCall, markNotFound } from '#charge/charges.sql.ts';

import { decideAfterNotFound, REMOVED_BY_ACQUIRER } from './decide-issuing.ts';
import { issueCharge } from './issue-charge.ts';
import type { IssuingDeps } from './issuing-deps.ts';
import { chooseBrCode } from './choose-br-code.ts';
import { finishFailed, finishIssued } from './finish-issuing.ts';

const BR_CODE_MISSING = 'br_code_missing: the acquirer gave neither a code nor a location';

/**
 * Asks the acquirer what became of a charge in `processing`, by its txid: found → adopted; not found → issued
 * again, or ended, as `decideAfterNotFound` decides; no answer → it stays `processing` (decisions 62, 63).
 *
 * @param callBeforeMs until when by `performance.now()` a call may begin and still end within the lease
 */
export async function checkIssuing(
  deps: IssuingDeps,
  charge: ChargeRow,
  callBeforeMs: number,
): Promise<{ charge: ChargeRow; answer: AnswerWord }> {
  const { id, accountId } = charge;
  const found = await deps.acquirer.getCharge(toAcquirerId(id), { accountId });
  const after = await applyAnswer(deps, charge, { found, callBeforeMs });
  return { charge: after, answer: toAnswerWord(found) };
}

async function applyAnswer(
  deps: IssuingDeps,
  charge: ChargeRow,
  { found, callBeforeMs }: { found: Lookup<AcquirerCharge>; callBeforeMs: number },
): Promise<ChargeRow> {
  switch (found.kind) {
    case 'unknown':
      return charge;
    case 'found':
      return await adopt(deps, charge, found.value);
    case 'not_found':
      return await afterNotFound(deps, charge, callBeforeMs);
    default:
      return assertNever(found);
  }
}

async function adopt(
  deps: IssuingDeps,
  charge: ChargeRow,
  issued: AcquirerCharge,
): Promise<ChargeRow> {
  if (issued.status === 'removed_by_psp' || issued.status === 'removed_by_receiver') {
    return await finishFailed(deps, charge, {
      reason: REMOVED_BY_ACQUIRER,
      checkInMs: checkForMoneyInMs(issued),
    });
  }
  if (issued.amountCents !== charge.amount) return reportForeignAmount(deps, charge);
  const brCode = chooseBrCode(issued, deps.receiver);
  if (brCode === null) return await removeUnusable(deps, charge, issued);
  const checkAgainNow = issued.received.length > 0;
  return await finishIssued(deps, charge, { brCode, checkAgainNow });
}

/** Never adopted: what was requested and what can be paid must be one. An operator has to compare them. */
function reportForeignAmount(deps: IssuingDeps, charge: ChargeRow): ChargeRow {
  deps.logger.error({ charge_id: charge.id }, 'charge has another amount at the acquirer');
  return charge;
}

/** Nobody can pay a charge without a code: it is taken back before it fails (decision 67). */
async function removeUnusable(
  deps: IssuingDeps,
  charge: ChargeRow,
  issued: AcquirerCharge,
): Promise<ChargeRow> {
  const end = { reason: BR_CODE_MISSING, checkInMs: checkForMoneyInMs(issued) };
  // Somebody could pay it all the same: the money goes to suspense.
  if (issued.received.length > 0) return await finishFailed(deps, charge, end);
  const { id, accountId } = charge;
  const removal = await deps.acquirer.cancelCharge(toAcquirerId(id), { accountId });
  if (removal.kind === 'canceled') return await finishFailed(deps, charge, end);
  deps.logger.error(
    { charge_id: id, removal: removal.kind },
    'charge without a usable code not removed at the acquirer',
  );
  return charge;
}

/** What was received for a charge that fails is recorded by a check of its own, at once. */
function checkForMoneyInMs({ received }: AcquirerCharge): 'requested' | null {
  return received.length > 0 ? 'requested' : null;
}

async function afterNotFound(
  deps: IssuingDeps,
  charge: ChargeRow,
  callBeforeMs: number,
): Promise<ChargeRow> {
  await markNotFound(deps.db, charge);
  const next = decideAfterNotFound(charge, deps);
  switch (next.kind) {
    case 'check_later':
      return charge;
    case 'fail':
      // It may turn up later, and is removed then (decision 63).
      return await finishFailed(deps, charge, {
        reason: next.reason,
        checkInMs: nextCheckMs(0, deps.pendingChecks),
        unansweredCalls: charge.unansweredCalls,
      });
    case 'issue_again': {
      const { expiresInSeconds } = next;
      const count = () => countCall(deps.db, charge);
      return await issueCharge(deps, charge, { count, expiresInSeconds, callBeforeMs });
    }
    default:
      return assertNever(next);
  }
}
