/** What a figure is held against. */
export type Aim = { name: string; figure: number; aim: string; met: boolean };

export function atLeast(name: string, figure: number, least: number): Aim {
  return { name, figure, aim: `>= ${least}`, met: figure >= least };
}

export function atMost(name: string, figure: number, most: number): Aim {
  return { name, figure, aim: `<= ${most}`, met: figure <= most };
}

/** The table at the end of a run; a missed aim fails the command. */
export function printAims(aims: readonly Aim[]): void {
  console.log('');
  for (const { name, figure, aim, met } of aims) {
    const verdict = met ? 'PASS' : 'FAIL';
    console.log(`${verdict}  ${name.padEnd(52)} ${format(figure).padStart(9)}  aim ${aim}`);
  }
  if (aims.some((aim) => !aim.met)) process.exitCode = 1;
}

function format(figure: number): string {
  return figure >= 100 ? figure.toFixed(0) : figure.toFixed(2);
}
