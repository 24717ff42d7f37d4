import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { ADMIN_ROUTES } from '@pixmesh/contracts/admin/admin-routes';
import { EVENT_CATALOGUE } from '@pixmesh/contracts/events/event-catalogue';
import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { aMerchant, stack } from './mesh.ts';

/** Kept for people to look at; git ignores the folder. */
const ARTEFACTS = path.resolve('test-artifacts');
/** The page's script has 4 MB, and the machine may be busy with the whole mesh. */
const STEP_TIMEOUT_MS = 90_000;

let browser: Browser;
let page: Page;
/** What went wrong without stopping the page, and every address that it asked for. */
const complaints: string[] = [];
const addresses: string[] = [];

beforeAll(async () => {
  mkdirSync(ARTEFACTS, { recursive: true });
  browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-zygote'],
  });
  page = await openPage();
  await page.goto(`${stack().gateway_url}/reference`);
  await page.getByRole('link', { name: 'Read the balance' }).waitFor();
});
afterAll(() => browser.close());

async function openPage(): Promise<Page> {
  const opened = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  opened.setDefaultTimeout(STEP_TIMEOUT_MS);
  opened.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  opened.on('pageerror', (error) => complaints.push(error.message));
  opened.on('request', (request) => addresses.push(request.url()));
  return opened;
}

async function linksOf(opened: Page): Promise<string[]> {
  return await opened
    .locator('aside a')
    .evaluateAll((found) => found.map((link) => link.getAttribute('href') ?? ''));
}

test('the reference page lists every route and every event', async () => {
  const links = await linksOf(page);
  for (const { method, path: route } of Object.values(PUBLIC_ROUTES)) {
    const place = `/${method}${route.replace(':id', '{id}')}`;
    expect(links.filter((link) => link.endsWith(place))).toHaveLength(1);
  }
  const texts = await page.locator('aside a').allInnerTexts();
  for (const { event } of EVENT_CATALOGUE) {
    expect(texts.filter((text) => text.startsWith(event))).toHaveLength(1);
  }
  await page.screenshot({ path: path.join(ARTEFACTS, 'reference-page.png') });
});

test('a call can be tried from the page, with a key that is typed there', async () => {
  const { key } = await aMerchant();
  await page.getByRole('link', { name: 'Read the balance' }).click();
  await page.getByRole('button', { name: /test request.*get \/v1\/balance/i }).click();
  const client = page.getByRole('dialog').filter({ hasText: '/v1/balance' });
  await client.locator('input.scalar-password-input').fill(key);
  const answered = page.waitForResponse(`${stack().gateway_url}/v1/balance`);
  await client
    .getByRole('button', { name: /^send get request/i })
    .last()
    .click();
  const answer = await answered;
  expect([answer.status(), answer.request().headers()['x-api-key']]).toEqual([200, key]);
  await client.getByText('200 OK').first().waitFor();
  await client.getByText('"available"').first().waitFor();
  await page.screenshot({ path: path.join(ARTEFACTS, 'reference-page-call.png') });
});

test('the page of the admin listener lists every route of operators', async () => {
  const opened = await openPage();
  await opened.goto(`${stack().admin_url}/reference`);
  await opened.getByRole('link', { name: ADMIN_ROUTES['listAudit']?.summary ?? '' }).waitFor();
  const links = await linksOf(opened);
  for (const { method, path: route } of Object.values(ADMIN_ROUTES)) {
    const place = `/${method}${route.replaceAll(/:(\w+)/g, '{$1}')}`;
    expect([place, links.filter((link) => link.endsWith(place)).length]).toEqual([place, 1]);
  }
  await opened.screenshot({ path: path.join(ARTEFACTS, 'reference-page-admin.png') });
});

test('the pages ask no other host for anything, and nothing in them fails', () => {
  const origins = addresses
    .filter((address) => !/^(data|blob):/.test(address))
    .map((address) => new URL(address).origin);
  const { gateway_url, admin_url } = stack();
  const own = [gateway_url, admin_url].map((url) => new URL(url).origin);
  expect([...new Set(origins)].toSorted()).toEqual(own.toSorted());
  expect(complaints).toEqual([]);
});
