import { readConfig } from '@pixmesh/service/config';
import { runService } from '@pixmesh/service/run-service';

import { DispatcherConfig } from './config.ts';
import { startWebhookDispatcher } from './service.ts';

await runService('webhook-dispatcher', () => startWebhookDispatcher(readConfig(DispatcherConfig)));
