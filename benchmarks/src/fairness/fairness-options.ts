import { parseArgs } from 'node:util';

import { SCENES, type Scene } from './scenes.ts';

/** Three thousand calls of a victim at 20 per second. */
const SECONDS = '150';
const AGGRESSOR_SECONDS = '30';

export type FairnessOptions = {
  scenes: readonly Scene[];
  /** Of the victim, alone and beside. */
  seconds: number;
  /** Of the aggressor alone. */
  aggressorSeconds: number;
  /** Another checkout of this repository, installed: every scene is played on its mesh too. */
  before: string | null;
};

/** `npm run bench -- fairness [--only creations,list] [--seconds 150] [--aggressor-seconds 30] [--before DIR]`. */
export function readFairnessOptions(args: readonly string[]): FairnessOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      seconds: { type: 'string', default: SECONDS },
      'aggressor-seconds': { type: 'string', default: AGGRESSOR_SECONDS },
      before: { type: 'string' },
    },
  });
  return {
    scenes: values.only === undefined ? SCENES : values.only.split(',').map(findScene),
    seconds: Number(values.seconds),
    aggressorSeconds: Number(values['aggressor-seconds']),
    before: values.before ?? null,
  };
}

function findScene(name: string): Scene {
  const scene = SCENES.find((known) => known.name === name);
  if (scene === undefined) {
    throw new Error(`no scene "${name}": ${SCENES.map((known) => known.name).join(', ')}`);
  }
  return scene;
}
