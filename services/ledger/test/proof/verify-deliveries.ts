import type { OracleCommand } from '#test/oracle-books.ts';

import { type Decided, nameOf } from './linearise.ts';
import type { Delivery } from './model-round.ts';
import type { Reply } from './model-vocabulary.ts';
import type { FoundJournal } from './read-books.sql.ts';

export type Verified = {
  /** Each command that these deliveries have decided, with the content that won. */
  decided: Decided[];
  breaks: string[];
};

/** Refusals that mean "not now": the same command may succeed later. */
const PASSING = new Set(['unknown_hold', 'below_floor', 'unknown_pix', 'unknown_item']);
/** What another content under the id of a decided command may be answered. */
const FOR_OTHERS = new Set(['other_content', 'foreign_hold', 'exceeds_received', 'item_resolved']);

/**
 * Compares what callers were told with what stands in the ledger: one outcome per command, for ever, to everybody, and
 * first to one of them only. Of several contents under one id exactly one is decided, and the others are answered so.
 */
export function verifyDeliveries(
  deliveries: readonly Delivery[],
  journals: ReadonlyMap<string, FoundJournal>,
  /** Contents of commands that were decided before, by id. */
  known: ReadonlyMap<string, string>,
): Verified {
  const verified: Verified = { decided: [], breaks: [] };
  for (const [id, group] of Map.groupBy(deliveries, ({ command }) => command.id)) {
    verifyCommand(verified, { found: journals.get(id), won: known.get(id), group });
  }
  return verified;
}

function verifyCommand(
  { decided, breaks }: Verified,
  booked: { found: FoundJournal | undefined; won: string | undefined; group: readonly Delivery[] },
): void {
  const { found, group } = booked;
  const byContent = Map.groupBy(group, ({ command }) => JSON.stringify(command));
  const winners = [...byContent].filter(
    ([content, same]) =>
      content === booked.won || same.some(({ answered }) => isAccepted(answered)),
  );
  const { command } = group[0]!;
  if (found === undefined) {
    if (winners.length > 0) breaks.push(`${nameOf(command)} was answered and is not booked`);
    return;
  }
  if (winners.length > 1 || (winners.length === 0 && booked.won === undefined)) {
    breaks.push(`${nameOf(command)} is booked once and ${winners.length} contents were accepted`);
    return;
  }
  const winner = winners[0]?.[1] ?? [];
  if (winner[0] && booked.won === undefined) decided.push({ command: winner[0].command, found });
  const firsts = winner.filter(({ answered }) => answered?.reply.isFirst).length;
  if (firsts > (booked.won === undefined ? 1 : 0)) {
    breaks.push(`${nameOf(command)} was decided ${firsts} times`);
  }
  const decidedAt = booked.won === undefined ? firstAcceptedAt(winner) : 0;
  for (const same of byContent.values()) {
    breaks.push(...wrongReplies(same, { found, isWinner: same === winner, decidedAt }));
  }
}

/** What stands in the ledger, and when somebody was told of it first. */
type Booked = { found: FoundJournal; isWinner: boolean; decidedAt: number };

function wrongReplies(deliveries: readonly Delivery[], booked: Booked): string[] {
  return deliveries.flatMap((delivery) => {
    const { command, answered } = delivery;
    if (answered === null || isBeforeRelease(delivery, booked)) return [];
    const wrong = wrongReply(answered.reply, booked);
    return wrong ? [`${nameOf(command)} ${wrong}`] : [];
  });
}

function firstAcceptedAt(deliveries: readonly Delivery[]): number {
  const accepted = deliveries.filter(({ answered }) => isAccepted(answered));
  return Math.min(...accepted.map(({ answered }) => answered!.at));
}

function isAccepted(answered: Delivery['answered']): boolean {
  return answered !== null && !answered.reply.isRejected;
}

function wrongReply(reply: Reply, { found, isWinner }: Booked): string | null {
  if (reply.isRejected) {
    if (PASSING.has(reply.word)) return null;
    const isLegal = !isWinner && FOR_OTHERS.has(reply.word);
    return isLegal ? null : `was rejected as ${reply.word}, but is booked as ${found.word}`;
  }
  if (reply.word === found.word && reply.version === found.version) return null;
  return `was answered ${reply.word} ${reply.version}, but is ${found.word} ${found.version}`;
}

/**
 * What has gone back of a Pix never comes again, so `exceeds_received` lasts; but a hold that could not be settled may
 * be released, and the same settlement is told so when it comes again.
 */
function isBeforeRelease(
  { command, startedAt, answered }: Delivery,
  { found, isWinner, decidedAt }: Booked,
): boolean {
  return (
    isWinner &&
    command.kind === 'hold.settle' &&
    answered?.reply.word === 'exceeds_received' &&
    found.word === 'already_released' &&
    startedAt < decidedAt
  );
}

/**
 * A command that was handed in after another one of its owner had been answered comes after it in the books. What was
 * handed in at the same time may come in any order.
 */
export function findOvertaken(
  decided: readonly Decided[],
  deliveries: readonly Delivery[],
): string[] {
  const firstStart = new Map<string, number>();
  const firstAnswer = new Map<string, number>();
  const contents = new Map(decided.map(({ command }) => [command.id, JSON.stringify(command)]));
  for (const { command, startedAt, answered } of deliveries) {
    if (contents.get(command.id) !== JSON.stringify(command)) continue;
    keepLeast(firstStart, command, startedAt);
    if (answered && !answered.reply.isRejected) keepLeast(firstAnswer, command, answered.at);
  }
  const breaks: string[] = [];
  for (const owners of Map.groupBy(decided, ({ found }) => found.accountId).values()) {
    const order = owners
      .filter(({ found }) => found.version !== null)
      .sort((one, other) => one.found.version! - other.found.version!);
    let latestStart = 0;
    for (const { command } of order) {
      const answeredAt = firstAnswer.get(command.id) ?? Number.POSITIVE_INFINITY;
      if (answeredAt < latestStart) {
        breaks.push(`${nameOf(command)} was answered before one was sent that stands before it`);
      }
      latestStart = Math.max(latestStart, firstStart.get(command.id) ?? 0);
    }
  }
  return breaks;
}

function keepLeast(map: Map<string, number>, { id }: OracleCommand, value: number): void {
  map.set(id, Math.min(map.get(id) ?? Number.POSITIVE_INFINITY, value));
}
