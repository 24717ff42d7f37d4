import { readConfig } from '@pixmesh/http/config';
import { runService } from '@pixmesh/http/run-service';

import { AcquirerSimulatorConfig } from '#config.ts';
import { startAcquirerSimulator } from '#service.ts';

await runService('acquirer-simulator', () =>
  startAcquirerSimulator(readConfig(AcquirerSimulatorConfig)),
);
