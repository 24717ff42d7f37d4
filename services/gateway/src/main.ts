import { readConfig } from '@pixmesh/service/config';
import { runService } from '@pixmesh/service/run-service';

import { GatewayConfig } from '#config.ts';
import { startGateway } from '#service.ts';

await runService('gateway', () => startGateway(readConfig(GatewayConfig)));
