import { readConfig } from '@pixmesh/http/config';
import { runService } from '@pixmesh/http/run-service';

import { LedgerConfig } from '#config.ts';
import { startLedger } from '#service.ts';

await runService('ledger', () => startLedger(readConfig(LedgerConfig)));
