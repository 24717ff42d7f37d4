import {
  serviceDatabaseUrl,
  type ServiceInfra,
  type ServiceProcess,
  startServiceProcess,
} from '../service-process.ts';

const SCHEMA = 'ledger';

/** The database through the role of the ledger, with no more rights than the service has. */
export function ledgerUrl(infra: ServiceInfra): string {
  return serviceDatabaseUrl(infra, SCHEMA);
}

/** The ledger as its own process; ready when this resolves. */
export async function startLedgerProcess(infra: ServiceInfra): Promise<ServiceProcess> {
  return await startServiceProcess(infra, { name: 'ledger', schema: SCHEMA, env: {} });
}
