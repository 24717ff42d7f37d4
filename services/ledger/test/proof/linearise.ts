import type { Oracle } from '#test/oracle.ts';
import { ORACLE_KINDS, type OracleCommand } from '#test/oracle-books.ts';

import type { FoundJournal } from './read-books.sql.ts';

/** A decided command: what was sent, and what became of it by the ledger's rows. */
export type Decided = { command: OracleCommand; found: FoundJournal };

/**
 * Replays what the ledger decided for one owner, in the order of its journals, and compares each decision with the
 * oracle's in that order: concurrent commands may be decided in any order, but there must be one order in which every
 * single decision is the right one. Rows that moved nothing have no number; their time bounds their place.
 *
 * What moved nothing and yet changed a dispute is published in an event, in the order of the owner's decisions:
 * `places` has the place of each event. Only a hold that is taken has none: a dispute may come before or after it,
 * which says the same, but not before what was published earlier than the dispute.
 *
 * @returns what the oracle refuses to accept; empty when there is such an order
 */
export function linearise(
  oracle: Oracle,
  decided: readonly Decided[],
  places: ReadonlyMap<string, number>,
): string[] {
  const numbered = decided
    .filter(({ found }) => found.version !== null)
    .sort((one, other) => (one.found.version ?? 0) - (other.found.version ?? 0));
  let waiting = decided.filter(({ found }) => found.version === null);
  for (const [index, next] of numbered.entries()) {
    placeUnmoved(next.found.atMs, firstPlaceFrom(index));
    const late = waiting.find(
      (one) => one.found.atMs < next.found.atMs || isPublishedBefore(one, next),
    );
    if (late) return [explain(oracle, late)];
    const wrong = verifyNumbered(oracle, next);
    if (wrong) return [wrong];
  }
  placeUnmoved(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  return waiting.length > 0 ? [explain(oracle, waiting[0]!)] : [];

  /** Places every row that moved nothing, is not younger than this, and is right at this point. */
  function placeUnmoved(untilMs: number, place: number): void {
    for (let placed = true; placed;) {
      placed = false;
      for (const one of unmovedInOrder(waiting, untilMs)) {
        if (isDispute(one) && (placeOf(one) ?? 0) > firstDispute(place)) continue;
        if (oracle.decide(one.command, one.found.atMs).word !== one.found.word) continue;
        oracle.apply(one.command, one.found.atMs);
        waiting = waiting.filter((other) => other !== one);
        placed = true;
        break;
      }
    }
  }

  function placeOf({ command }: Decided): number | null {
    return places.get(command.id) ?? null;
  }

  /** Where the first event of this decision and those after it stands. */
  function firstPlaceFrom(index: number): number {
    const places = numbered.slice(index).map(placeOf);
    return places.find((place) => place !== null) ?? Number.POSITIVE_INFINITY;
  }

  /** Disputes are settled in the order of their events, and none before what was published earlier. */
  function firstDispute(place: number): number {
    const places = waiting.filter(isDispute).map((one) => placeOf(one) ?? 0);
    return Math.min(place, ...places);
  }

  function isPublishedBefore(one: Decided, next: Decided): boolean {
    const place = placeOf(next);
    return place !== null && isDispute(one) && (placeOf(one) ?? 0) < place;
  }
}

function isDispute({ command }: Decided): boolean {
  return command.kind === 'dispute.block' || command.kind === 'dispute.unblock';
}

/**
 * What was refused comes before what makes sure that it is refused: a void that is placed too early would turn the
 * reason of a refused hold into another one. A release before a void, because only the first leaves its mark.
 */
function unmovedInOrder(waiting: readonly Decided[], untilMs: number): Decided[] {
  const rank = ({ command, found }: Decided): number => {
    if (command.kind === 'hold.take') return found.word === 'voided' ? 3 : 0;
    return command.kind === 'hold.void' ? 2 : 1;
  };
  const isHeldUp = ({ command, found }: Decided): boolean =>
    found.word === 'noted' &&
    'holdId' in command &&
    waiting.some(
      (other) =>
        other.command.kind === 'hold.take' &&
        other.command.holdId === command.holdId &&
        other.found.word !== 'voided',
    );
  return waiting
    .filter((one) => one.found.atMs <= untilMs && !isHeldUp(one))
    .sort((one, other) => one.found.atMs - other.found.atMs || rank(one) - rank(other));
}

function verifyNumbered(oracle: Oracle, { command, found }: Decided): string | null {
  const decision = oracle.apply(command, found.atMs);
  const account = oracle.accountOf(command.accountId);
  if (decision.word !== found.word || decision.isRejected) {
    return `${nameOf(command)} is ${found.word}, must be ${decision.word}`;
  }
  if (account.version !== found.version) {
    return `${nameOf(command)} has number ${found.version}, must have ${account.version}`;
  }
  for (const kind of ORACLE_KINDS) {
    const entry = found.entries.find((candidate) => candidate.kind === kind);
    const amount = decision.moves[kind] ?? 0;
    if ((entry?.amount ?? 0) !== amount) {
      return `${nameOf(command)} moves ${kind} by ${entry?.amount ?? 0}, must by ${amount}`;
    }
    if (entry && entry.balanceAfter !== account[kind]) {
      return `${nameOf(command)} leaves ${kind} ${entry.balanceAfter}, must ${account[kind]}`;
    }
  }
  return null;
}

function explain(oracle: Oracle, { command, found }: Decided): string {
  const must = oracle.decide(command, found.atMs).word;
  return `${nameOf(command)} is ${found.word}, which is right at no point near its time (now ${must})`;
}

export function nameOf(command: OracleCommand): string {
  return `${command.kind} ${command.id}`;
}
