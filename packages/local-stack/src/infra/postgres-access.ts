import { chownSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type IdentityTexts, openMeshIdentity } from '@pixmesh/certificates/mesh-identity';
import type { Progress } from '../progress.ts';
import { identityFolder } from './identities.ts';
import type { PostgresFiles } from './postgres-files.ts';

const SECRET_FILE = 0o600;

/**
 * Service roles come by TLS or not at all; the superuser of `stack.json` also without. `from`: addresses of callers.
 * Only who may replicate gets the last line: backups and replicas.
 */
export function renderAccessRules(from: string): string {
  return `hostssl   all  /^pixmesh_  ${from}  scram-sha-256
hostnossl all  /^pixmesh_  all  reject
host      all  all         ${from}  scram-sha-256
host      replication  all  ${from}  scram-sha-256
`;
}

export interface PostgresAccess extends AsyncDisposable {
  /** Settings of the server that name the files. */
  settings: Record<string, string>;
  /** Lays the files out; called before every start of the server. */
  write(): void;
}

/**
 * Who may connect to Postgres, and the certificate by which it is known. It reads neither below a home that its account
 * cannot enter, so copies stand beside its data. `onRenewed` is called when the copies have been replaced.
 */
export function preparePostgresAccess(
  input: { home: string; files: PostgresFiles; log: Progress },
  onRenewed: () => void,
): PostgresAccess {
  const { home, files, log } = input;
  const logger = {
    info: () => undefined,
    error: (_fields: object, message: string) => log.line(`postgres: ${message}`),
  };
  const identity = openMeshIdentity({ folder: identityFolder(home, 'postgres'), logger });
  const folder = dirname(files.dataFolder);
  const paths = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  const rules = join(folder, 'pg_hba.conf');
  const write = ({ cert, key }: IdentityTexts) => {
    writeOwned(paths.cert, cert, files);
    writeOwned(paths.key, key, files);
    writeOwned(rules, renderAccessRules('127.0.0.1/32'), files);
  };
  identity.onChange((texts) => {
    write(texts);
    onRenewed();
  });
  return {
    settings: { ssl: 'on', ssl_cert_file: paths.cert, ssl_key_file: paths.key, hba_file: rules },
    write: () => write(identity.current()),
    [Symbol.asyncDispose]: () => identity[Symbol.asyncDispose](),
  };
}

function writeOwned(path: string, text: string, { owner }: PostgresFiles): void {
  writeFileSync(path, text, { mode: SECRET_FILE });
  if (owner) chownSync(path, owner.uid, owner.gid);
}
