import { readConfig } from '@pixmesh/http/config';
import { runService } from '@pixmesh/http/run-service';

import { GatewayConfig } from '#config.ts';
import { startGateway } from '#service.ts';

await runService('gateway', () => startGateway(readConfig(GatewayConfig)));
