import type { WakeUp } from './redis-wake-up.ts';

type LocalSender = {
  wake(laneIds: readonly string[]): void;
  serves(laneIds: readonly string[]): boolean;
};

/**
 * Wakes senders for lanes in which something is due; for all where none is named. Others get no hint of a lane that the
 * sender of this process serves: they can do nothing in it, and each would look for lanes to claim.
 */
export function createWakeSenders(parts: {
  /** Null where this process has none. */
  sender: LocalSender | null;
  /** Null where hints have no way. */
  redis: Pick<WakeUp, 'publish'> | null;
}): (laneIds: readonly string[]) => void {
  const { sender, redis } = parts;
  return (laneIds) => {
    sender?.wake(laneIds);
    const others = laneIds.filter((id) => !sender?.serves([id]));
    if (others.length > 0 || laneIds.length === 0) redis?.publish(others);
  };
}
