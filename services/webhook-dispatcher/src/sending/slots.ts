/** Sends in flight in this process: overall and per lane. Other processes have their own. */
export type Slots = {
  free(): number;
  inUse(): number;
  byLane(): ReadonlyMap<string, number>;
  take(laneId: string): void;
  release(laneId: string): void;
};

/** Counts only; the claim asks `free` and `byLane` before it takes, so the bounds are never passed. */
export function createSlots(max: number): Slots {
  const lanes = new Map<string, number>();
  let inUse = 0;
  return {
    free: () => max - inUse,
    inUse: () => inUse,
    byLane: () => lanes,
    take: (laneId) => {
      inUse += 1;
      lanes.set(laneId, (lanes.get(laneId) ?? 0) + 1);
    },
    release: (laneId) => {
      inUse -= 1;
      const left = (lanes.get(laneId) ?? 0) - 1;
      if (left > 0) lanes.set(laneId, left);
      else lanes.delete(laneId);
    },
  };
}
