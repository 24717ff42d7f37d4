import { within } from '@pixmesh/kernel/within';
import type { Logger } from '@pixmesh/telemetry/logger';

/** No single part may hold up the stop of the rest for longer, where it does not say otherwise. */
const PART_STOP_MS_MAX = 8_000;

export type StopList = {
  /** Takes a part that has started, and how long its stop may take. */
  use<Part extends AsyncDisposable>(name: string, part: Part, stopMsMax?: number): Part;
  /** Stops each part once, in reverse order. */
  stopAll(): Promise<void>;
};

/** Collects what a service has started and stops it in reverse order, each part within a bound. */
export function createStopList(logger: Logger): StopList {
  const started: { name: string; part: AsyncDisposable; stopMsMax: number }[] = [];
  return {
    use: (name, part, stopMsMax = PART_STOP_MS_MAX) => {
      started.push({ name, part, stopMsMax });
      return part;
    },
    stopAll: async () => {
      for (const one of started.splice(0).toReversed()) await stopPart(one);
    },
  };

  async function stopPart(one: (typeof started)[number]): Promise<void> {
    const { name, part, stopMsMax } = one;
    try {
      const stopped = Promise.resolve(part[Symbol.asyncDispose]()).then(() => true);
      const isStopped = await within(stopMsMax, stopped, false);
      if (!isStopped) logger.warn({ part: name }, 'stop of a part took too long');
    } catch (error) {
      logger.warn({ err: error, part: name }, 'stop of a part failed');
    }
  }
}
