import { expect, inject, test } from 'vitest';

import { stack, useHome } from '../mesh.ts';

/** Of one process: routes, queues, statuses and buckets, and nothing that grows with use. */
const SERIES_MIN = 50;
const SERIES_MAX = 4_000;
/** Ids, phone numbers and documents, addresses. */
const PERSONAL = /[0-9a-f]{8}-[0-9a-f]{4}-|\d{11}|[\w.]+@[\w.]+|example\.(com|net|org)/;

test.each(inject('homes').map((home, index) => ({ home, stack: index + 1 })))(
  'no metric grows with merchants: no label names one, and each process shows a bounded number of series: stack $stack',
  async ({ home }) => {
    useHome(home);
    const { internal_urls: urls } = stack();
    for (const url of Object.values(urls)) {
      const text = await (await fetch(`${url}/metrics`)).text();
      const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      expect(series.length).toBeGreaterThan(SERIES_MIN);
      expect(series.length).toBeLessThan(SERIES_MAX);
      const labels = series.map((line) => /\{(?<labels>.*)\}/.exec(line)?.groups?.['labels'] ?? '');
      expect(labels.filter((one) => PERSONAL.test(one))).toEqual([]);
    }
  },
);
