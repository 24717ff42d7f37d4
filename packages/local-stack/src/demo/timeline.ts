import { styleText } from 'node:util';

const MOMENT_WIDTH = 7;
const PLACE_WIDTH = 18;

export interface Timeline {
  /** What happened where, now or at the given time (milliseconds since the epoch). */
  note(place: string, text: string, atMs?: number): void;
  fact(text: string): void;
}

/** Lines of relative milliseconds, place and event; colours on a terminal only. */
export function createTimeline(output: NodeJS.WriteStream = process.stdout): Timeline {
  const startedAt = Date.now();
  const paint = (format: 'dim' | 'cyan' | 'green', text: string) =>
    styleText(format, text, { stream: output });
  output.write(`\n${paint('green', 'One charge, from creation to signed webhooks')}\n\n`);
  return {
    note(place, text, atMs = Date.now()) {
      const moment = `${String(Math.round(atMs - startedAt)).padStart(MOMENT_WIDTH)} ms`;
      output.write(
        `${paint('dim', moment)}  ${paint('cyan', place.padEnd(PLACE_WIDTH))} ${text}\n`,
      );
    },
    fact(text) {
      output.write(`\n${paint('green', text)}\n`);
    },
  };
}

/** Cents as a person writes them: `1990` → `R$ 19,90`. */
export function formatCents(cents: number): string {
  const whole = Math.trunc(cents / 100);
  return `R$ ${whole},${String(Math.abs(cents % 100)).padStart(2, '0')}`;
}
