import path from 'node:path';
import { parseArgs } from 'node:util';

import { REPOSITORY_ROOT } from '@pixmesh/local-stack/repository';

import { FAULTS } from './faults/every-fault.ts';
import { runNoFault } from './no-fault.ts';
import { runRotations } from './rotations.ts';
import { runRestoreDrill } from './restore/restore-drill.ts';
import { runDrill } from './run-drill.ts';

const SECOND_MS = 1_000;

/** Drills that are more than one fault. */
const OTHERS: Readonly<Record<string, { purpose: string; run(home: string): Promise<boolean> }>> = {
  restore: {
    purpose: 'the database is lost, and restored to a moment before',
    run: (home) =>
      runRestoreDrill({
        home,
        charges: Number(values.charges),
        paidEvery: Number(values['paid-every']),
        agoMs: Number(values['ago-seconds']) * SECOND_MS,
        isBrokerLost: values['lose-broker'],
      }),
  },
  'no-fault': {
    purpose: 'nothing is broken: no alert fires, and every panel has data',
    run: (home) => runNoFault({ home, minutes: Number(values.minutes) }),
  },
  rotations: { purpose: 'every secret is changed under load', run: runRotations },
};

/** `npm run drill -- NAME`, `npm run drill -- --list`. Exit code 0: everything was as it has to be. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean', default: false },
    /** Of the drills of one fault: with Prometheus, which has to alert. */
    observe: { type: 'boolean', default: false },
    /** Of the drill `no-fault`. */
    minutes: { type: 'string', default: '60' },
    /** Of the drill `restore`, as those below. */
    charges: { type: 'string', default: '200' },
    'paid-every': { type: 'string', default: '4' },
    'ago-seconds': { type: 'string', default: '20' },
    'lose-broker': { type: 'boolean', default: false },
  },
});
const [name = ''] = positionals;
if (values.list) list();
else process.exitCode = (await run()) ? 0 : 1;

function list(): void {
  for (const { name: one, purpose, alerts } of FAULTS) {
    console.log(`${one.padEnd(20)} ${purpose}; alerts: ${alerts.join(', ') || 'none'}`);
  }
  for (const [one, { purpose }] of Object.entries(OTHERS)) {
    console.log(`${one.padEnd(20)} ${purpose}`);
  }
}

async function run(): Promise<boolean> {
  const home = path.join(REPOSITORY_ROOT, `.pixmesh-drill-${name}`);
  const fault = FAULTS.find((one) => one.name === name);
  if (fault !== undefined) return await runDrill(fault, { home, isObserved: values.observe });
  const other = OTHERS[name];
  if (other !== undefined) return await other.run(home);
  console.error(`expected the name of a drill: npm run drill -- --list`);
  return false;
}
