import { createFairQueue, WAITING_MAX } from '@pixmesh/fair-share/fair-queue';
import { NoTurnError } from '@pixmesh/fair-share/no-turn-error';
import { anyFree } from '@pixmesh/fair-share/share-of-places';
import { AppError } from '@pixmesh/kernel/app-error';
import {
  countOpenLetters,
  type DeadLetter,
  type Dismissal,
  findDeadLetter,
  type LettersPage,
  listDeadLetters,
  lockOpenLetter,
  markDismissed,
  markReplayed,
} from '@pixmesh/postgres/dead-letters';
import { OUTBOX_CONSUMER } from '@pixmesh/postgres/outbox-queue.sql';
import { dismissParkedEvent, replayParkedEvent } from '@pixmesh/postgres/parked-events';
import type { Database } from '@pixmesh/postgres/pool';
import { observedGauge } from '@pixmesh/telemetry/metrics';

import type { MessageCodec } from './message-codec.ts';
import { dispatchMessage, type MessageHandler } from './message-handler.ts';

/** How long a replay waits for others, within the time of its request. */
const REPLAY_WAIT_MS_MAX = 3_000;

type DeadLettersDeps = {
  db: Database;
  groups: readonly { groupId: string; handlers: readonly MessageHandler[] }[];
  /** Of a service that consumes; null until every schema is known. */
  codec?(): MessageCodec | null;
  /** Of a service that has one. */
  wakeOutbox?: (() => void) | undefined;
};

export type DeadLettersOfService = {
  list(page: LettersPage): Promise<DeadLetter[]>;
  find(id: string): Promise<DeadLetter | null>;
  /** Handles a parked message again; false when it is unknown or not open. */
  replay(id: string): Promise<boolean>;
  /** Dismisses a parked message; false when it is unknown or not open. */
  dismiss(id: string, dismissal: Dismissal): Promise<boolean>;
};

/** Messages that its consumers have parked, and events of its outbox that cannot be published; and how many wait. */
export function createDeadLettersOfService(deps: DeadLettersDeps): DeadLettersOfService {
  const { db, wakeOutbox } = deps;
  observedGauge('dead_letters_open', 'Parked messages that wait for an operator', async () => [
    { value: await countOpenLetters(db) },
  ]);
  // A replay holds one connection and needs another: many at once would each hold the one that the others wait for.
  const replays = createFairQueue({
    name: 'replays',
    places: 1,
    share: anyFree,
    waitingMax: WAITING_MAX,
    waitMsMax: REPLAY_WAIT_MS_MAX,
  });
  return {
    list: (page) => listDeadLetters(db, page),
    find: (id) => findDeadLetter(db, id),
    replay,
    dismiss,
  };

  async function replay(id: string): Promise<boolean> {
    const letter = await findOpenLetter(db, id);
    if (letter === null) return false;
    if (letter.consumer === OUTBOX_CONSUMER) {
      const isReplayed = await replayParkedEvent(db, letter);
      wakeOutbox?.();
      return isReplayed;
    }
    const group = deps.groups.find((candidate) => candidate.groupId === letter.consumer);
    if (!group) return false;
    const codec = deps.codec?.() ?? null;
    if (codec === null) throw new AppError('DEPENDENCY_UNAVAILABLE');
    const dispatch = { codec, handlers: group.handlers };
    const work = () =>
      db.transaction(async (tx) => {
        // It cannot be dismissed while it is handled.
        if ((await lockOpenLetter(tx, id)) === null) return false;
        await dispatchMessage(dispatch, letter);
        return await markReplayed(tx, id);
      });
    try {
      return await replays.run(letter.consumer, work);
    } catch (error) {
      if (!(error instanceof NoTurnError)) throw error;
      throw new AppError('DEPENDENCY_UNAVAILABLE', { message: error.message });
    }
  }

  async function dismiss(id: string, dismissal: Dismissal): Promise<boolean> {
    const letter = await findOpenLetter(db, id);
    if (letter === null) return false;
    if (letter.consumer !== OUTBOX_CONSUMER) return await markDismissed(db, id, dismissal);
    const isDismissed = await dismissParkedEvent(db, letter, dismissal);
    // Later events of its key were held back and are published now.
    wakeOutbox?.();
    return isDismissed;
  }
}

async function findOpenLetter(db: Database, id: string): Promise<DeadLetter | null> {
  const letter = await findDeadLetter(db, id);
  const isOpen = letter !== null && letter.replayedAt === null && letter.dismissedAt === null;
  return isOpen ? letter : null;
}
