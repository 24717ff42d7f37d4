import { X509Certificate } from 'node:crypto';

import { observedGauge } from '@pixmesh/telemetry/metrics';

/**
 * A certificate in use, by a name that is one of few: `mesh`, `acquirer`, `callback`. `pem` answers null where there is
 * none.
 */
export function observeCertificate(name: string, pem: () => string | null | undefined): void {
  const attributes = { certificate: name };
  const read = (seconds: (certificate: X509Certificate) => number) => async () => {
    const text = pem();
    return text ? [{ value: seconds(new X509Certificate(text)), attributes }] : [];
  };
  observedGauge(
    'certificate_expires_timestamp_seconds',
    'When a certificate in use ends, in seconds since 1970',
    read(({ validToDate }) => validToDate.getTime() / 1000),
  );
  observedGauge(
    'certificate_lifetime_seconds',
    'For how long a certificate in use is valid altogether',
    read(
      ({ validFromDate, validToDate }) => (validToDate.getTime() - validFromDate.getTime()) / 1000,
    ),
  );
}
