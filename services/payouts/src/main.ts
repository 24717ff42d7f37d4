import { readConfig } from '@pixmesh/service/config';
import { runService } from '@pixmesh/service/run-service';

import { PayoutsConfig } from '#config.ts';
import { startPayouts } from '#service.ts';

await runService('payouts', () => startPayouts(readConfig(PayoutsConfig)));
