import { parseArgs } from 'node:util';

import { LIFE_KINDS, type LifeKind } from './life-kinds.ts';

export type LivesOptions = {
  /** None: only the idle mesh is measured. */
  kinds: readonly LifeKind[];
  /** Lives under way at once, in turn. */
  clients: readonly number[];
  /** Of each measurement. */
  seconds: number;
  rounds: number;
  /** Lives per second of the open loop; null without one. */
  perSecond: number | null;
  /** Another checkout of this repository, installed: measured in turns with this one. */
  before: string | null;
  /** Both meshes at the same time, in so many turns of some seconds each; 0: one after the other, a round each. */
  slices: number;
  /** Prints the statements that took the most of the database's time; slows it by a little. */
  statements: boolean;
  /** Prints the bytes that a life leaves in tables and indexes. */
  bytes: boolean;
  /** Prints what a life writes to the write-ahead log, by table and kind of record. */
  wal: boolean;
};

/** `npm run bench -- lives [--only paid,automatic] [--clients 1,16,64] [--seconds 20] [--rate 20] [--before DIR [--slices 15]] [--bytes] [--wal]`. */
export function readLivesOptions(args: readonly string[]): LivesOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: 'paid,automatic' },
      clients: { type: 'string', default: '1,16,64' },
      seconds: { type: 'string', default: '20' },
      rounds: { type: 'string', default: '3' },
      rate: { type: 'string', default: '20' },
      before: { type: 'string' },
      slices: { type: 'string', default: '0' },
      statements: { type: 'boolean', default: false },
      bytes: { type: 'boolean', default: false },
      wal: { type: 'boolean', default: false },
    },
  });
  return {
    kinds: values.only === 'idle' ? [] : values.only.split(',').map(findKind),
    clients: values.clients.split(',').map(Number),
    seconds: Number(values.seconds),
    rounds: Number(values.rounds),
    perSecond: values.rate === '0' ? null : Number(values.rate),
    before: values.before ?? null,
    slices: Number(values.slices),
    statements: values.statements,
    bytes: values.bytes,
    wal: values.wal,
  };
}

function findKind(name: string): LifeKind {
  const kind = LIFE_KINDS.find((known) => known.name === name);
  if (kind === undefined) {
    throw new Error(`no life "${name}": ${LIFE_KINDS.map((known) => known.name).join(', ')}`);
  }
  return kind;
}
