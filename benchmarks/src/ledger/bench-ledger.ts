import { rmSync } from 'node:fs';

import { startInfra } from '@pixmesh/local-stack/infra/start-infra';

import { benchCommandTopic } from './bench-command-topic.ts';
import { benchReserves } from './bench-reserves.ts';
import { assertDurable, describeMachine, withClient } from './durable-server.ts';
import { printAims } from './ledger-figures.ts';
import { prepareLedger } from './ledger-process.ts';

const HOME = '.pixmesh-bench-ledger';

/** Reserve commands at the SQL layer, then commands by topic, on infrastructure of its own and an empty ledger. */
export async function benchLedger(): Promise<void> {
  rmSync(HOME, { recursive: true, force: true });
  await using infra = await startInfra({ home: HOME, mode: 'processes' });
  console.log(describeMachine());
  await assertDurable(infra.urls.postgresUrl);
  await prepareLedger(infra.urls);
  const reserves = await benchReserves(infra.urls);
  // What the reserves left to autovacuum and to the next checkpoint would be done during the second part.
  await withClient(infra.urls.postgresUrl, async (client) => {
    await client.query('vacuum analyze');
    await client.query('checkpoint');
  });
  const topics = await benchCommandTopic(infra.urls);
  printAims([...reserves, ...topics]);
}
