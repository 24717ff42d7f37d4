import { readConfig } from '@pixmesh/service/config';
import { runService } from '@pixmesh/service/run-service';

import { LedgerConfig } from '#config.ts';
import { startLedger } from '#service.ts';

await runService('ledger', () => startLedger(readConfig(LedgerConfig)));
