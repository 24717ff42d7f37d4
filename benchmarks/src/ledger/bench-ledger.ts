import { rmSync } from 'node:fs';

import { startInfra } from '@pixmesh/local-stack/infra/start-infra';

import { printAims } from '../aims.ts';
import { assertDurable, describeMachine } from '../durable-server.ts';
import { prepareServices } from '../service-process.ts';
import { benchCommandTopic } from './bench-command-topic.ts';
import { benchReserves } from './bench-reserves.ts';

const HOME = '.pixmesh-bench-ledger';

/** Commands by topic, then reserve commands at the SQL layer, on infrastructure of its own and an empty ledger. */
export async function benchLedger(): Promise<void> {
  rmSync(HOME, { recursive: true, force: true });
  await using infra = await startInfra({ home: HOME, mode: 'processes' });
  console.log(describeMachine());
  await assertDurable(infra.urls.postgresUrl);
  const served = { ...infra.urls, home: infra.home };
  await prepareServices(served);
  // On a young ledger: behind two million journals the pages of their keys no longer fit into the server's memory here.
  const topics = await benchCommandTopic(served);
  const reserves = await benchReserves(served);
  printAims([...reserves, ...topics]);
}
