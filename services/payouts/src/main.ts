import { readConfig } from '@pixmesh/http/config';
import { runService } from '@pixmesh/http/run-service';

import { PayoutsConfig } from '#config.ts';
import { startPayouts } from '#service.ts';

await runService('payouts', () => startPayouts(readConfig(PayoutsConfig)));
