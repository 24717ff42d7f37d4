import { readConfig } from '@pixmesh/service/config';
import { runService } from '@pixmesh/service/run-service';

import { AcquirerSimulatorConfig } from '#config.ts';
import { startAcquirerSimulator } from '#service.ts';

await runService('acquirer-simulator', () =>
  startAcquirerSimulator(readConfig(AcquirerSimulatorConfig)),
);
