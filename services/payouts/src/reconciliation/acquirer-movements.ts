import type { Acquirer, AcquirerPayout, ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { foundOrNull } from '@pixmesh/acquirer/found-or-null';
import { isPaidTo } from '@pixmesh/acquirer/is-paid-to';
import {
  acquirerTariffCommandId,
  holdSettleCommandId,
  receivedPixCommandId,
} from '@pixmesh/contracts/internal/ledger-command-ids';
import { AppError } from '@pixmesh/kernel/app-error';
import { fromAcquirerId, type PayoutId, toAcquirerId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { listAllPages, type TimeWindow } from '@pixmesh/reconciliation/list-pages';

import { payoutReturnCreditCommandId, payoutSuspendCommandId } from '#payouts/ledger-commands.ts';

import {
  findPayoutsById,
  findReturnsOfPayouts,
  listStuckPayouts,
  type RecordedReturn,
} from './compared-payouts.sql.ts';

/** Sends that have been on their way for longer are no longer explained away. */
const IN_FLIGHT_MS_MAX = 7 * 86_400_000;
/** Payouts on their way that are older than what is listed, and that the acquirer is asked for one by one. */
const OLDER_MAX = 200;

export type AcquirerMovementsDeps = {
  db: Database;
  acquirer: Pick<Acquirer, 'listSent' | 'listReceived' | 'getPayout'>;
  /** Our key at the acquirer: what came for another one is not in our balance. */
  pixKey: string;
};

/** A movement at the acquirer and the commands of which one books it; cents as they change the balance there. */
export type Movement = { amountCents: bigint; commandIds: [string, ...string[]] };

/** What has moved, by the end-to-end id of the Pix that moved it; of a send that moved nothing, nothing. */
export type Movements = ReadonlyMap<string, readonly Movement[]>;

/** What moved in a window, by the acquirer's lists. */
export async function listMovements(
  deps: AcquirerMovementsDeps,
  window: TimeWindow,
): Promise<Movements> {
  const received = await listAllPages((page) => deps.acquirer.listReceived(page), window);
  const sent = await listAllPages((page) => deps.acquirer.listSent(page), window);
  const own = received.filter((pix) => isPaidTo(pix, deps.pixKey));
  return new Map([
    ...own.map((pix) => [pix.endToEndId, creditOf(pix)] as const),
    ...(await sendsOf(deps, sent)),
  ]);
}

/**
 * What the payouts have moved that were sent before a window and are on their way.
 * @throws AppError `DEPENDENCY_UNAVAILABLE` where they are too many to be asked for: the balance cannot be compared
 *   then
 */
export async function findOlderMovements(
  deps: AcquirerMovementsDeps,
  before: Date,
): Promise<Movements> {
  const window = { from: new Date(Date.now() - IN_FLIGHT_MS_MAX), to: before };
  const older = await listStuckPayouts(deps.db, { window, limit: OLDER_MAX + 1 });
  if (older.length > OLDER_MAX) {
    throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'too many payouts are on their way' });
  }
  const sends: AcquirerPayout[] = [];
  for (const { id } of older) {
    const send = foundOrNull(await deps.acquirer.getPayout(toAcquirerId(id)));
    if (send !== null) sends.push(send);
  }
  return await sendsOf(deps, sends);
}

/**
 * What came in, and what the acquirer took for it. What goes back of it is booked under ids that charges mints, and
 * within seconds: the window of the check covers it. A return of a disputed Pix that names no nature is booked after
 * ten minutes, and shows as a difference until then.
 */
function creditOf({ endToEndId, amountCents, tariffCents }: ReceivedPix): Movement[] {
  const credit: Movement = { amountCents, commandIds: [receivedPixCommandId(endToEndId)] };
  if (tariffCents === null) return [credit];
  const commandIds: Movement['commandIds'] = [acquirerTariffCommandId(endToEndId)];
  return [credit, { amountCents: 0n - tariffCents, commandIds }];
}

/**
 * What our payouts have moved: an order takes its money when it is accepted, and its returns bring some back. An order
 * that is not ours explains nothing, nor do its returns.
 */
async function sendsOf(
  deps: AcquirerMovementsDeps,
  sent: readonly AcquirerPayout[],
): Promise<Map<string, Movement[]>> {
  const orders = sent.map((send) => {
    const { status, idEnvio } = send;
    const id = status === 'rejected' || idEnvio === null ? null : fromAcquirerId<PayoutId>(idEnvio);
    return { send, id };
  });
  const ids = orders.flatMap(({ id }) => (id === null ? [] : [id]));
  const payouts = new Map(
    (await findPayoutsById(deps.db, ids)).map((payout) => [payout.id, payout]),
  );
  const recorded = Map.groupBy(
    await findReturnsOfPayouts(deps.db, ids),
    ({ payoutId }) => payoutId,
  );
  return new Map(
    orders.map(({ send, id }): [string, Movement[]] => {
      const payout = id === null ? undefined : payouts.get(id);
      if (!payout) return [send.endToEndId, []];
      const order: Movement = {
        amountCents: 0n - send.amountCents,
        commandIds: [
          holdSettleCommandId(payout),
          payoutSuspendCommandId(payout, 'completed_after_failed'),
        ],
      };
      return [send.endToEndId, [order, ...returnsOf(send, recorded.get(payout.id) ?? [])]];
    }),
  );
}

/**
 * A return moves its money when it is carried out: one that is under way or failed has moved none. It is booked under
 * the end-to-end id that the acquirer showed when it was recorded.
 */
function returnsOf(send: AcquirerPayout, recorded: readonly RecordedReturn[]): Movement[] {
  const carriedOut = send.returns.filter(({ status }) => status === 'returned');
  return carriedOut.map(({ amountCents, returnId, id }) => {
    const former = recorded.find((one) => one.returnId === returnId);
    const endToEndId = former?.endToEndId ?? send.endToEndId;
    return { amountCents, commandIds: [payoutReturnCreditCommandId(endToEndId, returnId ?? id)] };
  });
}
