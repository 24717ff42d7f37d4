import { readConfig } from '@pixmesh/service/config';
import { runService } from '@pixmesh/service/run-service';

import { ChargesConfig } from '#config.ts';
import { startCharges } from '#service.ts';

await runService('charges', () => startCharges(readConfig(ChargesConfig)));
