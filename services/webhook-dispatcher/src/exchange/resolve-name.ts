import { within } from '@pixmesh/kernel/within';

import { promises as dns } from 'node:dns';

/** All addresses of a name, in the order to dial them. Rejects when the name does not resolve. */
export type ResolveName = (hostname: string) => Promise<readonly string[]>;

type Answer = PromiseSettledResult<string[]>;

/** A look-up ends by itself well within an attempt's deadline, which also bounds it. */
const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;
/**
 * For how long AAAA may be behind A (RFC 8305, 3). Some name servers never answer AAAA; waiting for the query to give up
 * would take most of an attempt's deadline, every time.
 */
const AAAA_BEHIND_MS_MAX = 500;

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
    const v4 = Promise.allSettled([resolver.resolve4(hostname)]);
    const v6 = Promise.allSettled([resolver.resolve6(hostname)]);
    const [first] = await v4;
    return toAddresses(
      first,
      ...(first.status === 'fulfilled' ? await within(AAAA_BEHIND_MS_MAX, v6, []) : await v6),
    );
  };
}

/** A name server that answers for one family only is common; what it did answer can be checked and dialled. */
function toAddresses(...answers: readonly Answer[]): string[] {
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
