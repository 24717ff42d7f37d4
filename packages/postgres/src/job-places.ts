/** The places of a job: a bound of the rows that it works on at the same time. */
export type JobPlaces = {
  /** Those that the next statement may ask for. */
  room(): number;
  /** Keeps places while a statement takes rows for them, so that no other one asks for the same. */
  keepDuring<T>(places: number, take: () => Promise<T>): Promise<T>;
  begin(): void;
  end(): void;
};

export function createJobPlaces(max: number): JobPlaces {
  let used = 0;
  let kept = 0;
  return {
    room: () => Math.max(0, max - used - kept),
    keepDuring: async (places, take) => {
      kept += places;
      try {
        return await take();
      } finally {
        kept -= places;
      }
    },
    begin: () => {
      used += 1;
    },
    end: () => {
      used -= 1;
    },
  };
}
