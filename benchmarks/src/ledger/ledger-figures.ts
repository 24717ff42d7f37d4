/** One measurement of reserve commands: how many in which time, on which accounts. */
export type ReserveFigure = { commands: number; seconds: number; perSecond: number };

export function reserveFigure(commands: number, seconds: number): ReserveFigure {
  return { commands, seconds, perSecond: commands / seconds };
}
