import { readConfig } from '@pixmesh/http/config';
import { runService } from '@pixmesh/http/run-service';

import { DispatcherConfig } from './config.ts';
import { startWebhookDispatcher } from './service.ts';

await runService('webhook-dispatcher', () => startWebhookDispatcher(readConfig(DispatcherConfig)));
