import { styleText } from 'node:util';

const MOMENT_WIDTH = 7;
const PLACE_WIDTH = 18;

export type Timeline = ReturnType<typeof createTimeline>;

/** Lines of relative milliseconds, place and event; colours on a terminal only. */
export function createTimeline(output: NodeJS.WriteStream = process.stdout) {
  const startedAtMs = Date.now();
  const moments: { atMs: number; place: string; text: string }[] = [];
  const paint = (format: 'dim' | 'cyan' | 'green', text: string) =>
    styleText(format, text, { stream: output });
  return {
    /** What happened where, now or at the given time (milliseconds since the epoch). */
    note: (place: string, text: string, atMs = Date.now()) => moments.push({ atMs, place, text }),
    /** Prints what was noted, in the order in which it happened. */
    print() {
      output.write(
        `\n${paint('green', 'One charge and one payout, from creation to signed webhooks')}\n\n`,
      );
      for (const { atMs, place, text } of moments.toSorted((a, b) => a.atMs - b.atMs)) {
        const moment = `${String(Math.round(atMs - startedAtMs)).padStart(MOMENT_WIDTH)} ms`;
        const where = paint('cyan', place.padEnd(PLACE_WIDTH));
        output.write(`${paint('dim', moment)}  ${where} ${text}\n`);
      }
    },
  };
}

/** Cents as a person writes them: `1990` → `R$ 19,90`. */
export function formatCents(cents: number): string {
  const whole = Math.trunc(cents / 100);
  return `R$ ${whole},${String(Math.abs(cents % 100)).padStart(2, '0')}`;
}
