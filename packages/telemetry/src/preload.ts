/**
 * First module of every service: `node --import @pixmesh/telemetry/preload …`. Instrumentations patch
 * libraries as they load, so this has to run before anything else is imported.
 */
import { startTelemetry } from './sdk.ts';

startTelemetry(process.env['SERVICE_NAME'] ?? 'pixmesh', process.env);
