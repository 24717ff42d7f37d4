import { promises as dns } from 'node:dns';

/** All addresses of a name, in the order to dial them. Rejects when the name does not resolve. */
export type ResolveName = (hostname: string) => Promise<readonly string[]>;

/** A look-up ends by itself well within an attempt's deadline, which also bounds it. */
const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;

/** Answers that mean "no record of this kind", as opposed to "no answer". */
const NO_RECORD_CODES = new Set(['ENODATA', 'ENOTFOUND']);

/**
 * Asks the machine's name servers, or those named as `address:port`, for A and AAAA. Not `dns.lookup`: that occupies
 * one of four threads of the process for as long as a merchant's name server does not answer, so four such servers
 * would stall every delivery; it also answers from the machine's own hosts file, where no merchant's name belongs.
 */
export function createResolver(servers: readonly string[] = []): ResolveName {
  const resolver = new dns.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (servers.length > 0) resolver.setServers([...servers]);
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ]);
    return toAddresses(v4, v6);
  };
}

/** A name server that answers for one family only is common; what it did answer can be checked and dialled. */
function toAddresses(...answers: PromiseSettledResult<string[]>[]): string[] {
  const addresses = answers.flatMap((answer) =>
    answer.status === 'fulfilled' ? answer.value : [],
  );
  const failure = answers.find((answer) => answer.status === 'rejected' && !hasNoRecord(answer));
  if (addresses.length === 0 && failure?.status === 'rejected') throw failure.reason;
  return addresses;
}

function hasNoRecord(answer: PromiseRejectedResult): boolean {
  const { code } = answer.reason as { code?: string };
  return code !== undefined && NO_RECORD_CODES.has(code);
}
