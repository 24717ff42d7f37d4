import { readConfig } from '@pixmesh/http/config';
import { runService } from '@pixmesh/http/run-service';

import { ChargesConfig } from '#config.ts';
import { startCharges } from '#service.ts';

await runService('charges', () => startCharges(readConfig(ChargesConfig)));
